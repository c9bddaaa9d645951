//! Any bytes as the frames of an HTTP/2 client that arrive in pieces.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| hostd::http::frames::fuzz::frames(bytes));
