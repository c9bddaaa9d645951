//! Any bytes as the parameters of a run.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| emi::fuzz::params(bytes));
