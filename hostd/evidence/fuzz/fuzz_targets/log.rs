//! Arbitrary bytes as a log and its index.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| evidence::fuzzing::log(bytes));
