//! Arbitrary bytes that contain secrets, cut anywhere.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| evidence::fuzzing::redaction(bytes));
