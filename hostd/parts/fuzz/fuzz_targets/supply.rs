//! Any bytes as answers of a supply.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| parts::fuzzing::supply(bytes));
