//! Capture packets: round trips, and nothing that arrives can break the reading.

use fastrand::Rng;
use serde_json::json;

use super::{CaptureLine, Chunk, Payload, decode_b64, encode_b64, parse};
use crate::RefusalKind;

fn chunk(line: &str) -> Chunk {
    match parse(line.as_bytes()).unwrap() {
        CaptureLine::Chunk(chunk) => chunk,
        CaptureLine::Refused(refusal) => panic!("{refusal}"),
    }
}

#[test]
fn base64_round_trips_any_counts() {
    let mut random = Rng::with_seed(21);
    for length in 0..200 {
        let counts: Vec<u16> = (0..length)
            .map(|_| u16::try_from(random.usize(..65_536)).unwrap())
            .collect();
        assert_eq!(decode_b64(&encode_b64(&counts)).unwrap(), counts);
    }
    assert_eq!(encode_b64(&[6, 65_535]), "BgD__w");
    // An odd last byte is dropped.
    assert_eq!(decode_b64("BgD_").unwrap(), [6]);
}

#[test]
fn every_kind_of_packet_is_read() {
    let adc = chunk(r#"{"status":"ok","bits":16,"adc_rate_hz":400000,"b64":"BgA","more":true}"#);
    assert_eq!(adc.payload, Payload::Dense(vec![6]));
    assert_eq!((adc.adc_rate_hz, adc.more), (Some(400e3), true));
    let both = chunk(r#"{"status":"chunk","b64":"BgA","data":[1,2]}"#);
    assert_eq!(both.payload, Payload::Dense(vec![6]));
    assert!(!both.more);
    let decimal = chunk(r#"{"status":"chunk","data":[1,65535],"la_rate_hz":0}"#);
    assert_eq!(decimal.payload, Payload::Dense(vec![1, 65_535]));
    assert_eq!(decimal.la_rate_hz, None);
    let la = chunk(
        r#"{"status":"ok","la":true,"la_edges":[[0,3],[9,0]],"la_upto":12,"data":[5],
            "trigger":{"la":2,"edge":"high","fired":true},"more":false}"#,
    );
    let edges = vec![(0, 3), (9, 0)];
    assert_eq!(la.payload, Payload::Edges { edges, upto: 12 });
    assert!(la.trigger.unwrap().fired);
    let refused = parse(br#"{"status":"error","message":"busy"}"#).unwrap();
    let CaptureLine::Refused(refusal) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(refusal.kind, RefusalKind::Busy);
}

#[test]
fn numbers_outside_their_types_are_errors() {
    for line in [
        r#"{"status":"ok","data":[65536]}"#,
        r#"{"status":"ok","data":[-1]}"#,
        r#"{"status":"ok","la":true,"la_edges":[[0]],"la_upto":1}"#,
        r#"{"status":"ok","la":true,"la_edges":[[-1,0]],"la_upto":1}"#,
        r#"{"status":"fine"}"#,
        r#"{"status":"ok","b64":"A"}"#,
        "[]",
    ] {
        assert!(parse(line.as_bytes()).is_err(), "{line}");
    }
}

#[test]
fn mutated_packets_never_break_the_reading() {
    let seeds = [
        json!({"status": "ok", "bits": 16, "adc_rate_hz": 400_000, "b64": "BgD__w",
            "more": true})
        .to_string(),
        json!({"status": "chunk", "la": true, "la_edges": [[0, 3], [9, 0]], "la_upto": 12,
            "more": false})
        .to_string(),
        json!({"status": "error", "message": "busy"}).to_string(),
    ];
    let mut random = Rng::with_seed(5);
    let mut read = 0;
    for _ in 0..20_000 {
        let mut line = random.choice(&seeds).unwrap().clone().into_bytes();
        for _ in 0..=random.usize(..3) {
            let at = random.usize(..line.len());
            line[at] = u8::try_from(random.usize(..128)).unwrap();
        }
        read += usize::from(parse(&line).is_ok());
    }
    assert!((100..19_900).contains(&read), "{read} lines were read");
}
