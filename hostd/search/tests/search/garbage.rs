//! Any text: read or refused without a panic, and what is read is put to a capture.

use std::ops::ControlFlow;

use decode::segment::Segment;
use search::{Known, Query};

use crate::support::{names, stored};

const VALID: [&str; 12] = [
    "pulse on A shorter than 1 us",
    "high pulse on \"4 four\" longer than 2.5 ms",
    "no rising edge on LA3 for 10 samples",
    "no edge for 10 us",
    "falling edge on A not within 3us before rising edge on B",
    "level of tx low for 3 us",
    "address 0x76 NACK",
    "i2c 0x76 read bytes 55 ?? with scl=A, sda=B address_format=shifted",
    "bytes 55 AA ?? 01 on uart with baudrate=125000",
    "uart framing error on rx with rx=A baudrate=9600 parity=odd",
    "spi text \"ab\" on mosi with clk=A mosi=B cs=LA3",
    "i2c repeated start",
];

const PIECES: [&str; 14] = [
    " ", "\"", "=", ",", "??", "0x", "on", "with", "for", "1", "us", "µ", "edge", "\u{0}",
];

/// The fuzz target does the same with bytes of libFuzzer.
#[test]
fn mutated_queries_never_panic() {
    let mut rng = fastrand::Rng::with_seed(32);
    let samples: Vec<u8> = (0..500).map(|_| rng.u8(..)).collect();
    let stored = stored(&samples);
    let segment = Segment::open(&stored).unwrap();
    let (mut read, mut bound) = (0, 0);
    for _ in 0..20_000 {
        let mut text: Vec<char> = rng.choice(VALID).unwrap().chars().collect();
        for _ in 0..rng.usize(0..4) {
            let at = rng.usize(0..=text.len());
            let to = rng.usize(at..=text.len().min(at + 6));
            let piece = rng.choice(PIECES).unwrap();
            text.splice(at..to, piece.chars());
        }
        let text: String = text.into_iter().collect();
        let Ok(query) = Query::parse(&text) else {
            continue;
        };
        read += 1;
        let Ok(search) = query.bind(&names(), &Known::default()) else {
            continue;
        };
        bound += 1;
        let mut last = 0;
        let _ = search.run(&segment, 3..490, &|| true, &mut |hit| {
            assert!(
                3 <= hit.from && hit.from < hit.to && hit.to <= 490,
                "{text}: {hit:?}"
            );
            last = last.max(hit.to);
            ControlFlow::Continue(())
        });
    }
    assert!(read > 3000 && bound > 2000, "{read} {bound}");
}
