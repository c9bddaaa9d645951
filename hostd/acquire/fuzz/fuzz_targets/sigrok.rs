//! Any bytes as what sigrok-cli writes: facts of an instrument, failures, the header of analog samples.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| acquire::fuzzing::sigrok(bytes));
