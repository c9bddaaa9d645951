//! Any bytes as a pipeline: read, expanded or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| pipeline::fuzz::document(bytes));
