//! Any bytes as a stored capture: opened, recovered and read without a panic, edges in order.
#![no_main]

use decode::analog::AnalogSegment;
use decode::pyramid::{self, Pyramid, Zoom};
use decode::segment::{BLOCK_SAMPLES, Edge, Encoder, EncoderSpec, Segment, SegmentError};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for segment in [Segment::open(bytes), Segment::recover(bytes)]
        .into_iter()
        .flatten()
    {
        let channels: Vec<usize> = (0..segment.channels()).collect();
        let edges = segment.edges(&channels, 0, u64::MAX).map_while(Result::ok);
        assert!(edges.map(|(sample, _)| sample).is_sorted());
        let middle = segment.samples() / 2;
        let _ = segment.level_at(0, middle);
        for channel in channels {
            let mut line = segment.line(channel).expect("there is the channel");
            if let Ok(Some(next)) = line.next_edge(middle, Edge::Rising) {
                assert!(next >= middle);
            }
            if let Ok(Some(last)) = line.previous_edge(middle, Edge::Falling) {
                assert!(last < middle);
            }
            let _ = line.levels_in(0..middle);
            let _ = line.edges_in(1..middle);
            assert!(line.pulses(0..u64::MAX).map_while(Result::ok).all(|pulse| pulse.samples > 0));
        }
        let _ = pyramid::of_logic(&segment, |_| Ok::<(), SegmentError>(()));
    }
    for segment in [AnalogSegment::open(bytes), AnalogSegment::recover(bytes)]
        .into_iter()
        .flatten()
    {
        let _ = segment.read(0, u64::MAX, &mut Vec::new());
        let _ = segment.extents();
        let _ = pyramid::of_analog(&segment, |_| Ok::<(), SegmentError>(()));
    }
    // Two blocks of nothing, under any pyramid.
    let mut encoder = Encoder::new(EncoderSpec {
        channels: 2,
        sample_rate_hz: 1.0,
    })
    .expect("the spec is valid");
    let samples = u64::from(BLOCK_SAMPLES) + 5;
    encoder.push_edges(&[], samples).expect("time only moves on");
    let file = encoder.finish();
    let empty = Segment::open(&file).expect("it was just written");
    if let Ok(pyramid) = Pyramid::open_logic(bytes) {
        for level in [0, 9, 13, 30] {
            let _ = pyramid::logic_stretches(&empty, Some(&pyramid), &[0, 1], level, 0..5000);
        }
        let zoom = Zoom::of_logic(&empty, Some(&pyramid), 1);
        let _ = zoom.expect("there is the channel").extent(3..samples - 3);
    }
});
