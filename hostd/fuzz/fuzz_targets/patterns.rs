//! Arbitrary text as a pattern and a path: there is an answer, and quickly.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| pipeline::fuzz::pattern(bytes));
