//! Any bytes as what comes over the link of a pod on USB, on either side.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| pod_protocol::fuzzing::usb_link(bytes));
