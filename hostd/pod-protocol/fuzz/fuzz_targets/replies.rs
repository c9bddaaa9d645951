//! Any bytes as a pod's answers: replies, packets, run lengths.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| pod_protocol::fuzzing::replies(bytes));
