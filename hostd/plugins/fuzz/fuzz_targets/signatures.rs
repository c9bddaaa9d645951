//! Arbitrary bytes as a signature: none verifies without a key.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| plugins::fuzz::signature(bytes));
