//! Any bytes as a multipart form that arrives in pieces.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| base::multipart::fuzz::form(bytes));
