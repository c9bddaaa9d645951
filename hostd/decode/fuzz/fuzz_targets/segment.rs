//! Any bytes as a stored capture: opened, recovered and read without a panic, edges in order.
#![no_main]

use decode::analog::AnalogSegment;
use decode::segment::Segment;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for segment in [Segment::open(bytes), Segment::recover(bytes)]
        .into_iter()
        .flatten()
    {
        let channels: Vec<usize> = (0..segment.channels()).collect();
        let edges = segment.edges(&channels, 0, u64::MAX).map_while(Result::ok);
        assert!(edges.map(|(sample, _)| sample).is_sorted());
        let _ = segment.level_at(0, segment.samples() / 2);
    }
    for segment in [AnalogSegment::open(bytes), AnalogSegment::recover(bytes)]
        .into_iter()
        .flatten()
    {
        let _ = segment.read(0, u64::MAX, &mut Vec::new());
        let _ = segment.extents();
    }
});
