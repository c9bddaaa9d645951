//! Any bytes as a firmware file of each format.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| flash::image::fuzz::files(bytes));
