//! Arbitrary bytes as a packed plugin: what is read packs into the same again.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| plugins::fuzz::package(bytes));
