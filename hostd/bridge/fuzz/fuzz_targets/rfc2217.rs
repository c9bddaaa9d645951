//! Any bytes as a client of RFC 2217.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| bridge::fuzz::rfc2217(bytes));
