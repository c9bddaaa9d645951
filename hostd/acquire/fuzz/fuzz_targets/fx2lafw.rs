//! Any bytes as the transfers of an analyzer, with and without a trigger.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| acquire::fuzzing::fx2lafw(bytes));
