//! Bytes after lines: what is announced, and what becomes of it.

use super::*;
use crate::capture::{Assembly, Frame};
use crate::chunk::{CaptureLine, ChunkError, parse};

fn chunk(line: &str, bytes: &[u8]) -> Chunk {
    match parse(line.as_bytes()).unwrap() {
        CaptureLine::Chunk(chunk) => {
            assert_eq!(chunk.raw_bytes(), Some(bytes.len()));
            chunk.take(bytes)
        }
        CaptureLine::Refused(refusal) => panic!("{refusal}"),
    }
}

#[test]
fn counts_words_and_runs_are_samples() {
    let mut assembly = Assembly::new((2, 300));
    let counts = chunk(r#"{"status":"ok","raw":4,"more":true}"#, &[6, 0, 6, 0xff]);
    let frames = assembly.push(counts).unwrap();
    let adc = Frame::Adc {
        start_sample: 0,
        counts: vec![6, 0xff06],
    };
    assert_eq!(frames, [adc]);
    let words = chunk(
        r#"{"status":"chunk","la":true,"raw":6,"more":true}"#,
        &encode(&[3, 3, 1]),
    );
    let la = |edges: &[(u64, u16)], upto| Frame::La {
        edges: edges.to_vec(),
        upto,
    };
    assert_eq!(assembly.push(words).unwrap(), [la(&[(0, 3), (2, 1)], 3)]);
    let runs = encode_runs(1, &[(10, 5), (290, 4)], 3, 300);
    let line = format!(
        r#"{{"status":"chunk","la":true,"la_runs":true,"raw":{},"more":false}}"#,
        runs.len()
    );
    let runs = chunk(&line, &runs);
    assert_eq!(
        assembly.push(runs).unwrap(),
        [la(&[(10, 5), (290, 4)], 300)]
    );
}

#[test]
fn a_long_run_is_several() {
    let runs = encode_runs(7, &[(100_000, 8)], 0, 100_001);
    assert_eq!(runs.len(), 3 * 4);
    let mut assembly = Assembly::new((0, 100_001));
    let line = r#"{"status":"ok","la":true,"la_runs":true,"raw":12,"more":false}"#;
    let frames = assembly.push(chunk(line, &runs)).unwrap();
    let edges = vec![(0, 7), (100_000, 8)];
    assert_eq!(
        frames,
        [Frame::La {
            edges,
            upto: 100_001
        }]
    );
}

#[test]
fn what_are_no_samples_is_refused() {
    for line in [
        r#"{"status":"ok","raw":3,"more":true}"#,
        r#"{"status":"ok","raw":65538,"more":true}"#,
        r#"{"status":"ok","la":true,"la_runs":true,"raw":6,"more":true}"#,
    ] {
        let refused = parse(line.as_bytes());
        assert!(matches!(refused, Err(ChunkError::Raw(_))), "{line}");
    }
    let too_many = chunk(
        r#"{"status":"ok","la":true,"la_runs":true,"raw":4,"more":true}"#,
        &[9, 0, 1, 0],
    );
    assert!(Assembly::new((0, 8)).push(too_many).is_err());
    let too_many = chunk(
        r#"{"status":"ok","la":true,"raw":4,"more":true}"#,
        &[9, 0, 1, 0],
    );
    assert!(Assembly::new((0, 1)).push(too_many).is_err());
}
