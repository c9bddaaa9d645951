//! Any bytes as CMSIS-DAP packets.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| target_sim::dap::fuzz::packets(bytes));
