//! Any bytes as a stored report.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| emi::fuzz::stored(bytes));
