//! Any text as a pattern and a path: it answers, and soon.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| archive::fuzz::pattern(bytes));
