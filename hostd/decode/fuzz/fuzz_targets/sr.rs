//! Any bytes as an `.sr` file: parsed, visited and loaded as edges without a panic.
#![no_main]

use decode::sr::{Archive, Limits, load_edges};
use libfuzzer_sys::fuzz_target;
use std::ops::ControlFlow;

/// Small enough to keep every input quick.
const LIMITS: Limits = Limits {
    unpacked_bytes_max: 1 << 22,
    ratio_max: 1040,
    entries_max: 64,
    metadata_bytes_max: 1 << 16,
};

fuzz_target!(|bytes: &[u8]| {
    let Ok(archive) = Archive::parse(bytes, &LIMITS) else {
        return;
    };
    let unit = archive.unit_size();
    let _ = archive.visit(&mut |raw| {
        assert!(raw.len().is_multiple_of(unit));
        ControlFlow::Continue(())
    });
    let _ = load_edges(&archive, &[0], 10_000);
});
