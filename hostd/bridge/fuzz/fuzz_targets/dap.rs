//! Any bytes as a client of CMSIS-DAP over TCP.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| bridge::fuzz::dap(bytes));
