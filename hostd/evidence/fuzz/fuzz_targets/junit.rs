//! Arbitrary bytes as a JUnit file that a test wrote.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| evidence::fuzzing::junit(bytes));
