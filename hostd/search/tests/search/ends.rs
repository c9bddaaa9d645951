//! How searches end: with what who takes the hits says, and when nobody waits.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, Ordering};

use decode::segment::Segment;
use search::{Ended, Known, Query};

use crate::support::{names, stored};

const QUERIES: [&str; 7] = [
    "pulse on A shorter than 1 s",
    "no edge for 1 samples",
    "edge on A",
    "edge on A within 1 s of edge on B",
    "level of A high",
    "uart bytes ?? with rx=A baudrate=500000",
    "uart framing error with rx=A baudrate=500000",
];

fn busy() -> Vec<u8> {
    let mut rng = fastrand::Rng::with_seed(4);
    let samples: Vec<u8> = (0..300_000).map(|_| rng.u8(..) & 3).collect();
    stored(&samples)
}

#[test]
fn who_has_enough_gets_no_more() {
    let stored = busy();
    let segment = Segment::open(&stored).unwrap();
    for text in QUERIES {
        let search = Query::parse(text)
            .unwrap()
            .bind(&names(), &Known::default())
            .unwrap();
        let mut left = 3;
        let ended = search.run(&segment, 0..u64::MAX, &|| true, &mut |_| {
            left -= 1;
            match left {
                0 => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        });
        assert_eq!((ended.unwrap(), left), (Ended::Enough, 0), "{text}");
    }
}

#[test]
fn a_search_that_nobody_waits_for_ends() {
    let stored = busy();
    let segment = Segment::open(&stored).unwrap();
    // Those that find nothing ask, too.
    let barren = [
        "pulse on A longer than 1 s",
        "uart parity error with rx=A baudrate=500000",
    ];
    for text in QUERIES.iter().chain(&barren) {
        let search = Query::parse(text)
            .unwrap()
            .bind(&names(), &Known::default())
            .unwrap();
        let looks = AtomicU32::new(0);
        let go_on = || looks.fetch_add(1, Ordering::Relaxed) < 5;
        let each = &mut |_| ControlFlow::Continue(());
        let ended = search.run(&segment, 0..u64::MAX, &go_on, each);
        let cancelled = ended.unwrap() == Ended::Cancelled;
        // A decoder that says nothing is done before it asks so often.
        assert!(cancelled || text.contains("parity"), "{text}");
        assert!(looks.load(Ordering::Relaxed) <= 6, "{text}");
    }
}

/// A decoder that says nothing asks at each block.
#[test]
fn a_search_that_finds_nothing_for_long_ends_too() {
    let block = usize::try_from(decode::segment::BLOCK_SAMPLES).unwrap();
    let samples: Vec<u8> = (0..8 * block).map(|at| u8::from(at % 5000 == 0)).collect();
    let stored = stored(&samples);
    let segment = Segment::open(&stored).unwrap();
    let search = Query::parse("uart parity error with rx=A baudrate=9600 parity=odd")
        .unwrap()
        .bind(&names(), &Known::default())
        .unwrap();
    let looks = AtomicU32::new(0);
    let go_on = || looks.fetch_add(1, Ordering::Relaxed) < 3;
    let each = &mut |_| ControlFlow::Continue(());
    let ended = search.run(&segment, 0..u64::MAX, &go_on, each).unwrap();
    assert_eq!(ended, Ended::Cancelled);
    assert_eq!(looks.load(Ordering::Relaxed), 4);
}

#[test]
fn damage_is_said() {
    let mut stored = busy();
    let middle = stored.len() / 2;
    stored[middle] ^= 1;
    let segment = Segment::open(&stored).unwrap();
    for text in QUERIES {
        let search = Query::parse(text)
            .unwrap()
            .bind(&names(), &Known::default())
            .unwrap();
        let each = &mut |_| ControlFlow::Continue(());
        let error = search
            .run(&segment, 0..u64::MAX, &|| true, each)
            .unwrap_err();
        assert!(!error.is_of_capture(), "{text}");
    }
}
