//! Any bytes as CMSIS-DAP packets to a probe with a protocol of its own.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| vendor_probes::fuzzing::packets(bytes));
