//! Any bytes as what a client and a pod say through a tunnel: nothing forbidden passes.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| lab::tunnel::gate::fuzz::sayings(bytes));
