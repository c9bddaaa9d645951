//! Any bytes as what a child says.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| analysis::fuzz::frames(bytes));
