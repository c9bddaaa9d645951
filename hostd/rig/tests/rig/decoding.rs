//! Decoders of plugins in a run.

use std::sync::Arc;

use base::config::CapturesConfig;
use decode::foreign::{Foreign, ForeignDecoding, ForeignError, Input, Setup};
use decode::{Annotation, Channel, Class, Decoder, Value};
use jobs::Outcome;
use lab::decoders::{Library, Unavailable};

use crate::Case;
use crate::bench::Bench;

pub(crate) const CASES: &[Case] = &[(
    "a_decoder_of_a_plugin_needs_no_place_among_the_readers",
    places,
)];

/// A library of one decoder, which finds the end of a capture.
#[derive(Debug)]
struct Ends(Arc<Decoder>);

impl Ends {
    fn new() -> Self {
        Self(Arc::new(Decoder {
            id: "acme.x/ends".to_owned(),
            name: "Ends".to_owned(),
            channels: vec![Channel {
                id: "line".to_owned(),
                name: "The line".to_owned(),
                required: true,
            }],
            options: Vec::new(),
            classes: vec![Class {
                id: "end".to_owned(),
                text: "The end".to_owned(),
                hex_digits: 0,
            }],
            rows: Vec::new(),
            byte_streams: Vec::new(),
        }))
    }
}

impl Library for Ends {
    fn find(&self, _: &str, _: &str) -> Result<Arc<dyn Foreign>, Unavailable> {
        Ok(Arc::new(Self(self.0.clone())))
    }

    fn all(&self, _: &str) -> Vec<Arc<dyn Foreign>> {
        Vec::new()
    }
}

impl Foreign for Ends {
    fn decoder(&self) -> &Arc<Decoder> {
        &self.0
    }

    fn input(&self) -> Input {
        Input::Changes
    }

    fn title(&self) -> &'static str {
        "plugin acme.x 1.0.0"
    }

    fn begin(&self, _: &Setup<'_>) -> Result<Box<dyn ForeignDecoding>, ForeignError> {
        Ok(Box::new(Ending))
    }
}

struct Ending;

impl ForeignDecoding for Ending {
    fn changes(&mut self, _: &[u32]) -> Result<Vec<Annotation>, ForeignError> {
        Ok(Vec::new())
    }

    fn samples(&mut self, _: u64, _: &[u8]) -> Result<Vec<Annotation>, ForeignError> {
        Ok(Vec::new())
    }

    fn finish(&mut self, end: u64) -> Result<Vec<Annotation>, ForeignError> {
        Ok(vec![Annotation {
            start: 0,
            end,
            class: 0,
            value: Value::Mark,
        }])
    }
}

fn places() {
    let bench = Bench::new();
    let captures = &bench.lab.captures;
    captures.decoders().add(Box::new(Ends::new()));
    let _taken = bench.block_on(async {
        let mut all = Vec::new();
        for _ in 0..CapturesConfig::default().read_max {
            all.push(captures.reader_permit().await);
        }
        all
    });
    let ran = bench.run(
        "      - capture: { kind: la, channels: { line: 1 }, rate: 1MHz, samples: 1000 }
        id: seen
      - decode: { on: seen, decoder: acme.x/ends, channels: { line: line } }
        timeout: 20s",
    );
    assert_eq!(ran.end.outcome, Outcome::Passed, "{:?}", ran.end.steps);
    let told = std::fs::read_to_string(&ran.end.artifacts[0].path).unwrap();
    assert!(told.contains("The end"), "{told}");
}
