//! Any bytes as a server's answer to a pod that dials.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| pod_sim::fuzzing::answer(bytes));
