//! Any bytes as frames of a pod that dials in, and of its server.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| pod_protocol::fuzzing::dial(bytes));
