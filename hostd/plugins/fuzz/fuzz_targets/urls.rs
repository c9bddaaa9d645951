//! Arbitrary bytes as a URL and as a pattern: each has one form.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| plugins::fuzz::url(bytes));
