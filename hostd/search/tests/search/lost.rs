//! Samples that were lost: nothing is found in them or over them.

use std::ops::ControlFlow;

use decode::gaps::Gaps;
use decode::segment::Segment;
use search::{Known, Query};

use crate::support::{drawn, names, stored};

/// What is found where some samples were lost.
fn found(query: &str, samples: &[u8], gaps: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let stored = stored(samples);
    let segment = Segment::open(&stored).unwrap();
    let search = Query::parse(query).unwrap();
    let search = search.bind(&names(), &Known::default()).unwrap();
    let search = search.apart_from(Gaps::new(gaps.iter().copied()));
    let mut hits = Vec::new();
    let each = &mut |hit: search::Hit| {
        hits.push((hit.from, hit.to));
        ControlFlow::Continue(())
    };
    let ended = search.run(&segment, 0..segment.samples(), &|| true, each);
    assert_eq!(ended.unwrap(), search::Ended::Whole);
    hits
}

#[test]
fn nothing_reaches_over_lost_samples() {
    let samples = drawn(&[(0, "..##..#######...####..#.")]);
    let lost = [(7, 13)];
    for (query, whole, apart) in [
        (
            "pulse on A longer than 1 ns",
            vec![
                (2, 4),
                (4, 6),
                (6, 13),
                (13, 16),
                (16, 20),
                (20, 22),
                (22, 23),
            ],
            vec![(2, 4), (4, 6), (16, 20), (20, 22), (22, 23)],
        ),
        ("no edge on A for 5 us", vec![(6, 13)], vec![]),
        (
            "level of A high for 3 us",
            vec![(6, 13), (16, 20)],
            vec![(16, 20)],
        ),
        (
            "falling edge on A",
            vec![(4, 5), (13, 14), (20, 21), (23, 24)],
            vec![(4, 5), (20, 21), (23, 24)],
        ),
    ] {
        assert_eq!(found(query, &samples, &[]), whole, "{query}");
        assert_eq!(found(query, &samples, &lost), apart, "{query}");
    }
}
