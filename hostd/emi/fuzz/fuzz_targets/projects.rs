//! Any bytes as a KiCad project.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| emi::fuzz::project(bytes));
