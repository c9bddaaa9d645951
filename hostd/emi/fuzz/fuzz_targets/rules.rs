//! Any bytes as a rules file.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| emi::fuzz::rules(bytes));
