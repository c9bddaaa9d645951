//! Any text as what a plugin calls its document, and as the query that asks for one.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| hostd::plugin::fuzz::documents(bytes));
