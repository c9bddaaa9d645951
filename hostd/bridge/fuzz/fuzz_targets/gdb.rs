//! Any bytes as a GDB.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| bridge::fuzz::gdb(bytes));
