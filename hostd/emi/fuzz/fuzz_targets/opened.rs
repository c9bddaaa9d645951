//! Any bytes as a board of any kind, zips among them.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| emi::fuzz::opened(bytes));
