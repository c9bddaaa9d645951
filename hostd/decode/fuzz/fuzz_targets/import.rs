//! Any bytes as a file of another tool: recognised, looked through and stored without a panic.
#![no_main]

use decode::import::{Import, Limits, Memory, Options};
use decode::{segment::Segment, sr};
use libfuzzer_sys::fuzz_target;

/// Small enough to keep every input quick.
const LIMITS: Limits = Limits {
    session: sr::Limits {
        unpacked_bytes_max: 1 << 22,
        ratio_max: 1040,
        entries_max: 64,
        metadata_bytes_max: 1 << 16,
    },
    samples_max: 1 << 24,
    analog_samples_max: 1 << 18,
    channels_max: 100,
    line_bytes_max: 4096,
};

fuzz_target!(|bytes: &[u8]| {
    let Ok(import) = Import::open(bytes, &Options::default(), &LIMITS) else {
        return;
    };
    if let (Ok((file, _)), Some(logic)) = (Memory::of(&import), import.logic()) {
        let segment = Segment::open(&file).expect("what was stored can be read");
        assert_eq!(segment.samples(), logic.samples);
    }
});
