//! Any bytes as what a probe of the field solver wrote.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| emi::fuzz::probes(bytes));
