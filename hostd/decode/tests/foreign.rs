//! Decoders from elsewhere: what they are given, from files and from segments, and what becomes of what they say.

#![allow(clippy::unwrap_used, reason = "a test that has none to unwrap fails")]

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use decode::foreign::{BadAnnotation, Foreign, ForeignDecoding, ForeignError, Input, Setup};
use decode::segment::{Encoder, EncoderSpec, Segment};
use decode::sr::{Archive, Limits, Writer};
use decode::{
    Accepts, Annotation, Channel, Class, DecodeError, Decoder, Decoding, Format, OptionInfo, Row,
    Spec, SpecError, Value,
};

/// Samples that one decoder was given: as changes, or one by one.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Given {
    changes: Vec<u32>,
    samples: Vec<u8>,
    calls: usize,
    end: u64,
    setup: Vec<(String, String)>,
    connected: Vec<bool>,
}

#[derive(Debug)]
struct Elsewhere {
    decoder: Arc<Decoder>,
    input: Input,
    given: Arc<Mutex<Given>>,
    answers: Mutex<VecDeque<Vec<Annotation>>>,
}

impl Elsewhere {
    fn new(input: Input, answers: &[&[Annotation]]) -> Arc<Self> {
        let role = |id: &str, required| Channel {
            id: id.to_owned(),
            name: id.to_uppercase(),
            required,
        };
        let class = |id: &str, hex_digits| Class {
            id: id.to_owned(),
            text: format!("The {id}"),
            hex_digits,
        };
        Arc::new(Self {
            decoder: Arc::new(Decoder {
                id: "acme.x/probe".to_owned(),
                name: "Probe".to_owned(),
                channels: vec![role("one", false), role("two", false), role("three", false)],
                options: vec![OptionInfo {
                    id: "depth".to_owned(),
                    text: "Depth".to_owned(),
                    default: "7".to_owned(),
                    accepts: Accepts::Any,
                }],
                classes: vec![class("frame", 4), class("error", 0)],
                rows: vec![Row {
                    id: "errors".to_owned(),
                    text: "Errors".to_owned(),
                    classes: vec!["error".to_owned()],
                }],
                byte_streams: Vec::new(),
            }),
            input,
            given: Arc::default(),
            answers: Mutex::new(answers.iter().map(|a| a.to_vec()).collect()),
        })
    }

    fn given(&self) -> Given {
        self.given.lock().unwrap().clone()
    }
}

impl Foreign for Elsewhere {
    fn decoder(&self) -> &Arc<Decoder> {
        &self.decoder
    }

    fn input(&self) -> Input {
        self.input
    }

    fn title(&self) -> &'static str {
        "plugin acme.x 1.0.0"
    }

    fn begin(&self, setup: &Setup<'_>) -> Result<Box<dyn ForeignDecoding>, ForeignError> {
        if setup.options[0].1 == "bad" {
            return Err(ForeignError::Refused("depth is no number".to_owned()));
        }
        let mut given = self.given.lock().unwrap();
        given.setup = setup.options.to_vec();
        given.connected.clone_from(&setup.connected);
        Ok(Box::new(Running {
            given: self.given.clone(),
            answers: std::mem::take(&mut self.answers.lock().unwrap()),
        }))
    }
}

struct Running {
    given: Arc<Mutex<Given>>,
    answers: VecDeque<Vec<Annotation>>,
}

impl Running {
    fn answer(&mut self) -> Vec<Annotation> {
        self.given.lock().unwrap().calls += 1;
        self.answers.pop_front().unwrap_or_default()
    }
}

impl ForeignDecoding for Running {
    fn changes(&mut self, data: &[u32]) -> Result<Vec<Annotation>, ForeignError> {
        self.given.lock().unwrap().changes.extend(data);
        Ok(self.answer())
    }

    fn samples(&mut self, start: u64, data: &[u8]) -> Result<Vec<Annotation>, ForeignError> {
        let mut given = self.given.lock().unwrap();
        assert_eq!(start, given.samples.len() as u64);
        given.samples.extend(data);
        drop(given);
        Ok(self.answer())
    }

    fn finish(&mut self, end: u64) -> Result<Vec<Annotation>, ForeignError> {
        self.given.lock().unwrap().end = end;
        Ok(self.answer())
    }
}

const NAMES: [&str; 4] = ["A", "B", "C", "D"];

/// Roles one and three have the channels D and B.
const MAP: &[(&str, &str)] = &[("one", "D"), ("three", "B")];

fn parse(
    elsewhere: &Arc<Elsewhere>,
    options: &[(&str, &str)],
    show: Option<&str>,
) -> Result<Spec, SpecError> {
    let foreign: Arc<dyn Foreign> = elsewhere.clone();
    let names = NAMES.map(str::to_owned);
    Spec::parse_foreign(&foreign, MAP, options, show, &names)
}

/// Samples with quiet stretches and dense ones.
fn samples(count: usize, first: u8) -> Vec<u8> {
    let mut random = 0x2545_F491_4F6C_DD1Du64;
    let mut level = first;
    (0..count)
        .map(|at| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            if at > 0 && (at / 10_000 % 3 == 0 || random.is_multiple_of(5_000)) {
                level = random.to_le_bytes()[4] & 15;
            }
            level
        })
        .collect()
}

fn segment(samples: &[u8]) -> Vec<u8> {
    let spec = EncoderSpec {
        channels: 4,
        sample_rate_hz: 1e6,
    };
    let mut encoder = Encoder::new(spec).unwrap();
    for part in samples.chunks(4_099) {
        encoder.push_raw(part, 1);
    }
    encoder.finish()
}

fn decode_segment(bytes: &[u8], spec: &Spec) -> Result<Vec<Annotation>, DecodeError> {
    let segment = Segment::open(bytes).unwrap();
    let mut all = Vec::new();
    Decoding::of_segment(&segment, spec)?.run(&mut |part| {
        all.extend_from_slice(part);
        ControlFlow::Continue(())
    })?;
    Ok(all)
}

fn decode_file(bytes: &[u8], spec: &Spec) -> Result<(), DecodeError> {
    let archive = Archive::parse(bytes, &Limits::default()).unwrap();
    decode::decode_sr(&archive, spec, &mut |_| ControlFlow::Continue(())).map(drop)
}

/// What the roles one and three see.
fn seen(sample: u8) -> u8 {
    (sample >> 3 & 1) | (sample >> 1 & 1) << 2
}

/// The levels that changes come to.
fn expanded(changes: &[u32], end: u64) -> Vec<u8> {
    let mut all = Vec::new();
    let mut levels = 0;
    for entry in changes {
        let to = all.len() + (entry >> 8) as usize;
        all.resize(to, levels);
        levels = (entry & 0xff) as u8;
    }
    all.resize(usize::try_from(end).unwrap(), levels);
    all
}

#[test]
fn every_way_to_a_decoder_gives_the_same_samples() {
    for (count, first) in [(1, 9), (70_000, 0), (2_300_000, 10)] {
        let samples = samples(count, first);
        let wanted: Vec<u8> = samples.iter().map(|s| seen(*s)).collect();
        let segment = segment(&samples);
        let file = Writer::new(1_000_000, &NAMES).push(&samples).finish();
        for input in [Input::Changes, Input::Samples] {
            let (a, b) = (Elsewhere::new(input, &[]), Elsewhere::new(input, &[]));
            decode_segment(&segment, &parse(&a, &[], None).unwrap()).unwrap();
            decode_file(&file, &parse(&b, &[], None).unwrap()).unwrap();
            assert_eq!(a.given(), b.given());
            let given = a.given();
            assert_eq!(given.end, count as u64);
            assert_eq!(given.connected, [true, false, true]);
            assert_eq!(given.setup, [("depth".to_owned(), "7".to_owned())]);
            match input {
                Input::Changes => {
                    assert_eq!(given.changes[0] >> 8, 0, "the first is that of sample 0");
                    let levels: Vec<u32> = given.changes.iter().map(|c| c & 0xff).collect();
                    assert!(levels.windows(2).all(|pair| pair[0] != pair[1]));
                    assert!(expanded(&given.changes, given.end) == wanted);
                }
                Input::Samples => assert!(given.samples == wanted),
            }
        }
    }
}

fn mark(start: u64, end: u64, class: u8) -> Annotation {
    Annotation {
        start,
        end,
        class,
        value: Value::Mark,
    }
}

#[test]
fn what_it_finds_is_shown_in_its_words() {
    let number = Annotation {
        value: Value::Number(0xbeef),
        ..mark(0, 5, 0)
    };
    let text = Annotation {
        value: Value::Text("CRC \"x\" \u{7}é".into()),
        ..mark(5, 6, 1)
    };
    let words = Annotation {
        value: Value::Words(vec![10, 11].into()),
        ..mark(6, 9, 1)
    };
    let answers: [&[Annotation]; 2] = [&[number, text], &[words, mark(9, 9, 1)]];
    let segment = segment(&samples(10, 1));
    let printed = |format: Format, show| {
        let elsewhere = Elsewhere::new(Input::Changes, &answers);
        let spec = parse(&elsewhere, &[], show).unwrap();
        let found = decode_segment(&segment, &spec).unwrap();
        let mut lines = Vec::new();
        format.write(&spec, &found, &mut lines).unwrap();
        String::from_utf8(lines).unwrap()
    };
    assert_eq!(
        printed(Format::Sigrok, None),
        "0-5 acme.x/probe-1: BEEF\n5-6 acme.x/probe-1: CRC \"x\" \u{fffd}é\n\
         6-9 acme.x/probe-1: 10 11\n9-9 acme.x/probe-1: The error\n"
    );
    assert_eq!(
        printed(Format::Json, Some("errors")).lines().next(),
        Some(
            r#"{"start":5,"end":6,"decoder":"acme.x/probe","class":"error","text":"CRC \"x\" �é"}"#
        )
    );
    assert_eq!(
        printed(Format::Csv, Some("acme.x/probe=frame")),
        "0,5,acme.x/probe,frame,BEEF\n"
    );
}

#[test]
fn nonsense_ends_the_decoding_and_says_whose_it_was() {
    let segment = segment(&samples(10, 1));
    for (bad, expected) in [
        (
            mark(0, 11, 0),
            BadAnnotation::Beyond {
                end: 11,
                samples: 10,
            },
        ),
        (mark(3, 2, 0), BadAnnotation::Backwards { start: 3, end: 2 }),
        (
            mark(0, 0, 2),
            BadAnnotation::Class {
                class: 2,
                classes: 2,
            },
        ),
    ] {
        let elsewhere = Elsewhere::new(Input::Samples, &[&[], &[bad]]);
        let spec = parse(&elsewhere, &[], None).unwrap();
        let error = decode_segment(&segment, &spec).unwrap_err();
        assert_eq!(error.to_string(), "decode with the plugin acme.x 1.0.0");
        let DecodeError::Foreign { source, .. } = error else {
            panic!("{error}");
        };
        assert!(
            matches!(&source, ForeignError::Bad(bad) if *bad == expected),
            "{source}"
        );
    }
}

#[test]
fn it_may_refuse_its_options_before_it_begins() {
    let elsewhere = Elsewhere::new(Input::Changes, &[]);
    let spec = parse(&elsewhere, &[("depth", "bad")], None).unwrap();
    let segment = segment(&samples(10, 1));
    let refused = decode_segment(&segment, &spec).unwrap_err();
    let cause = std::error::Error::source(&refused).unwrap();
    assert_eq!(cause.to_string(), "set up its options: depth is no number");
    assert_eq!(elsewhere.given().calls, 0);
    let refused = parse(&elsewhere, &[("depths", "1")], None).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "set option `depths` of acme.x/probe (did you mean `depth`?); known are depth"
    );
    let foreign: Arc<dyn Foreign> = elsewhere;
    let nothing = Spec::parse_foreign(&foreign, &[], &[], None, &[]).unwrap_err();
    assert_eq!(
        nothing.to_string(),
        "decode acme.x/probe without a channel; map one to one, two, three"
    );
}

#[test]
fn the_sink_ends_it_also_where_it_finds_nothing() {
    let elsewhere = Elsewhere::new(Input::Samples, &[]);
    let spec = parse(&elsewhere, &[], None).unwrap();
    let bytes = segment(&samples(2_000_000, 1));
    let segment = Segment::open(&bytes).unwrap();
    let summary = Decoding::of_segment(&segment, &spec)
        .unwrap()
        .run(&mut |_| ControlFlow::Break(()))
        .unwrap();
    assert!(summary.stopped);
    assert_eq!(elsewhere.given().calls, 1);
}

/// Whatever a decoder says, what reaches the sink is in order and within the capture, or the decoding ends.
#[test]
fn any_answers_are_checked() {
    let segment = segment(&samples(100, 1));
    let mut random = 0x9E37_79B9_7F4A_7C15u64;
    let mut next = |below: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % below
    };
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..5_000 {
        let count = next(4);
        let mut answer: Vec<Annotation> = (0..count)
            .map(|_| {
                let start = next(102);
                let value = match next(4) {
                    0 => Value::Mark,
                    1 => Value::Number(next(u64::MAX)),
                    2 => Value::Words((0..next(5)).collect()),
                    _ => Value::Text("a\u{85}\u{9b}b".into()),
                };
                Annotation {
                    start,
                    end: start + next(20) - next(2).min(start),
                    class: u8::try_from(next(3)).unwrap(),
                    value,
                }
            })
            .collect();
        if next(2) == 0 {
            answer.sort_by_key(|found| found.end);
        }
        let elsewhere = Elsewhere::new(Input::Changes, &[&answer, &answer]);
        let spec = parse(&elsewhere, &[], None).unwrap();
        match decode_segment(&segment, &spec) {
            Err(error) => {
                assert!(matches!(error, DecodeError::Foreign { .. }));
                refused += 1;
            }
            Ok(found) => {
                taken += 1;
                assert!(found.is_sorted_by_key(|found| found.end));
                for found in &found {
                    assert!(found.start <= found.end && found.end <= 100 && found.class < 2);
                }
                let mut lines = Vec::new();
                Format::Json.write(&spec, &found, &mut lines).unwrap();
                assert!(!String::from_utf8(lines).unwrap().contains('\u{9b}'));
            }
        }
    }
    assert!(taken > 100 && refused > 100, "{taken} {refused}");
}
