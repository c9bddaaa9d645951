//! Any bytes as what a probe behind TCP sends.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| parts::fuzzing::probe(bytes));
