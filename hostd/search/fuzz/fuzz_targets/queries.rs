//! Any text as a query: read and fitted to channels, or refused, without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use search::{Known, Query};

fuzz_target!(|text: &str| {
    let names = ["A", "LA2", "4 four", "scl", "SDA", "rx"].map(str::to_owned);
    match Query::parse(text) {
        Ok(query) => {
            let _ = query.bind(&names, &Known::default());
        }
        Err(error) => assert!((1..=text.chars().count() + 1).contains(&error.at)),
    }
});
