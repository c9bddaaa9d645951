//! Captures sample by sample, and stored.

use decode::analog::{AnalogEncoder, AnalogSegment};
use decode::segment::{Encoder, EncoderSpec, Segment};
use pipeline::rules::{RuleFile, parse};
use rules::{Analog, Capture, Goldens, Judged, Logic, Report};

/// A capture sample by sample.
#[derive(Clone)]
pub(crate) struct Samples {
    pub(crate) rate_hz: u32,
    /// A bit for each of `names`.
    pub(crate) words: Vec<u16>,
    pub(crate) names: Vec<&'static str>,
    /// Of the channel `ADC`: a millivolt a count.
    pub(crate) counts: Vec<u16>,
    /// Samples before the trigger, of either.
    pub(crate) trigger: u32,
}

/// The same capture as it is stored.
pub(crate) struct Stored {
    logic: Vec<u8>,
    analog: Vec<u8>,
    samples: Samples,
}

impl Samples {
    /// Levels of channels a, b, c, … at 1 MHz, as `0` and `1`.
    pub(crate) fn of(levels: &[&str]) -> Self {
        let length = levels.first().map_or(0, |levels| levels.len());
        let bit = |at: usize| {
            let lanes = levels.iter().enumerate();
            lanes.fold(0, |word, (lane, levels)| {
                assert_eq!(levels.len(), length);
                word | u16::from(levels.as_bytes()[at] == b'1') << lane
            })
        };
        Self {
            rate_hz: 1_000_000,
            words: (0..length).map(bit).collect(),
            names: ["a", "b", "c", "d"][..levels.len()].to_vec(),
            counts: Vec::new(),
            trigger: 0,
        }
    }

    /// Values of the channel `ADC` in millivolts, at 1 MHz.
    pub(crate) fn analog(counts: &[u16]) -> Self {
        let mut samples = Self::of(&[]);
        samples.counts = counts.to_vec();
        samples
    }

    pub(crate) fn stored(&self) -> Stored {
        let sample_rate_hz = f64::from(self.rate_hz);
        let channels = self.names.len().max(1);
        let mut logic = Encoder::new(EncoderSpec {
            channels,
            sample_rate_hz,
        })
        .unwrap();
        logic.push_words(&self.words);
        let mut analog = AnalogEncoder::new(sample_rate_hz).unwrap();
        analog.push(&self.counts);
        Stored {
            logic: logic.finish(),
            analog: analog.finish(),
            samples: self.clone(),
        }
    }

    /// What one rule comes to, given without its name.
    pub(crate) fn judged(&self, rule: &str) -> Judged {
        self.stored().judged(rule, &Goldens::default())
    }
}

impl Stored {
    pub(crate) fn capture(&self) -> Capture<'_> {
        let samples = &self.samples;
        let names = samples
            .names
            .iter()
            .map(|name| (*name).to_owned())
            .collect();
        let logic = Logic::new(Segment::open(&self.logic).unwrap(), names);
        let analog = Analog {
            segment: AnalogSegment::open(&self.analog).unwrap(),
            name: "ADC".to_owned(),
            unit: "V".to_owned(),
            offset: 0.0,
            step: 0.001,
        };
        let logic = (!samples.words.is_empty()).then_some(logic);
        let analog = match samples.counts.is_empty() {
            true => Vec::new(),
            false => vec![analog],
        };
        let trigger = f64::from(samples.trigger) / f64::from(samples.rate_hz);
        Capture::new(logic, analog).with_trigger(trigger)
    }

    pub(crate) fn judged(&self, rule: &str, goldens: &Goldens) -> Judged {
        let file = file(rule);
        let mut report = self.report(&file, goldens);
        report.rules.remove(0)
    }

    pub(crate) fn report(&self, file: &RuleFile, goldens: &Goldens) -> Report {
        rules::evaluate(&self.capture(), file.rules(), goldens, &|| false).unwrap()
    }
}

/// One rule, given without its name.
pub(crate) fn file(rule: &str) -> RuleFile {
    let text = format!("version: 1\nrules:\n  - {{ name: it, {rule} }}\n");
    match parse(&text) {
        Ok(file) => file,
        Err(report) => panic!("{}", report.render("rules.yaml")),
    }
}
