//! Arbitrary bytes as a manifest: it is read, or told what is wrong.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| plugins::fuzz::manifest(bytes));
