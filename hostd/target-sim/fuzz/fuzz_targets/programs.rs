//! Any bytes as the program of a target.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| target_sim::target::fuzz::program(bytes));
