//! Any bytes as what the two peers of a relayed connection of a jail do.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| jail::relay_fuzz::connection(bytes));
