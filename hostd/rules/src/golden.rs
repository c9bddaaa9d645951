//! A golden file: where the signals of a good capture change, to compare others with.

use std::collections::BTreeMap;

use pipeline::rules::{Align, Quantity, Rule, Time};
use serde::{Deserialize, Serialize};

use crate::capture::{Capture, Found};
use crate::evaluate::Fault;
use crate::lane::Stop;
use crate::limits::{GOLDEN_BYTES_MAX, GOLDEN_EDGES_MAX, GOLDEN_FILES_MAX, GOLDEN_POINTS_MAX};
use crate::number::{float, snap};

/// How far an edge may be from its place if nobody says otherwise.
pub const GOLDEN_TIME: Time = Time(1_000);

/// The version of the form, as the file has it.
const VERSION: u32 = 1;

/// What makes a golden file of a capture.
#[derive(Debug, Clone)]
pub struct Make<'m> {
    /// These channels alone, as rules name them; none: all of the capture.
    pub channels: &'m [String],
    /// How far an edge may be from its place, unless a rule says otherwise.
    pub time: Time,
    /// How far an analog value may be from what it was, unless a rule says otherwise.
    pub amplitude: Option<Quantity>,
    /// What is laid over each other, unless a rule says otherwise.
    pub align: Align,
}

/// Why there is no golden file; each fits after "failed to …".
#[derive(Debug, thiserror::Error)]
pub enum GoldenError {
    /// The bytes are no golden file.
    #[error("read a golden file: {0}")]
    Unreadable(String),
    /// A list has too many.
    #[error("take more than {GOLDEN_FILES_MAX} golden files")]
    Many,
    /// The capture has no such channel, lost samples, or has more edges than a file holds.
    #[error("make a golden file: {0}")]
    Unfit(String),
    /// The capture is damaged.
    #[error("read the samples")]
    Damaged(#[from] decode::segment::SegmentError),
}

/// Where the signals of a good capture change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Golden {
    hostd_golden: u32,
    /// Seconds from the first sample to the trigger.
    pub(crate) trigger_s: f64,
    /// What is laid over each other.
    pub(crate) align: Align,
    /// Nanoseconds that an edge may be from its place.
    pub(crate) time_ns: i64,
    /// How far an analog value may be off, in its unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) amplitude: Option<f64>,
    /// Digital channels.
    #[serde(default)]
    pub(crate) logic: Vec<Edges>,
    /// Analog channels.
    #[serde(default)]
    pub(crate) analog: Vec<Points>,
}

/// Where a digital channel changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Edges {
    pub(crate) name: String,
    pub(crate) sample_rate_hz: f64,
    pub(crate) samples: u64,
    /// The level of the first sample: 0 or 1.
    pub(crate) level: u8,
    /// Samples from each edge to the next, the first from the first sample.
    pub(crate) edges: Vec<u64>,
}

impl Points {
    /// Each value by its sample.
    pub(crate) fn each(&self) -> impl Iterator<Item = (u64, f64)> {
        let samples = (0_u64..).map(|index| index.saturating_mul(self.every));
        let values = self
            .counts
            .iter()
            .map(|count| self.offset + f64::from(*count) * self.step);
        samples.zip(values)
    }
}

/// Values of an analog channel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Points {
    pub(crate) name: String,
    pub(crate) unit: String,
    pub(crate) sample_rate_hz: f64,
    pub(crate) samples: u64,
    /// The value of count 0, and of one count.
    pub(crate) offset: f64,
    pub(crate) step: f64,
    /// Samples from one count to the next.
    pub(crate) every: u64,
    pub(crate) counts: Vec<u16>,
}

impl Edges {
    /// Each edge by its sample, and whether the channel is high from there on.
    pub(crate) fn each(&self) -> impl Iterator<Item = (u64, bool)> {
        let mut at = 0_u64;
        let mut level = self.level != 0;
        self.edges.iter().map(move |distance| {
            at = at.saturating_add(*distance);
            level = !level;
            (at, level)
        })
    }
}

impl Golden {
    /// Makes a golden file of a capture.
    ///
    /// # Errors
    /// The capture has no such channel, or more edges than a file holds, or is damaged.
    pub fn make(capture: &Capture<'_>, make: &Make<'_>) -> Result<Self, GoldenError> {
        if !capture.gaps.is_empty() {
            let why = "the capture lost samples on its way: record another one, at a lower rate";
            return Err(GoldenError::Unfit(why.to_owned()));
        }
        let mut golden = Self {
            hostd_golden: VERSION,
            trigger_s: capture.trigger_s,
            align: make.align,
            time_ns: make.time.0,
            amplitude: make.amplitude.map(Quantity::value),
            logic: Vec::new(),
            analog: Vec::new(),
        };
        let logic = capture.logic.iter().flat_map(|logic| logic.names.clone());
        let analog = capture.analog.iter().map(|analog| analog.name.clone());
        let all: Vec<String> = match make.channels.is_empty() {
            true => logic
                .chain(analog)
                .map(|name| format!("\"{name}\""))
                .collect(),
            false => make.channels.to_vec(),
        };
        let mut left = GOLDEN_EDGES_MAX;
        for name in &all {
            let bare = name.trim_matches('"');
            // Analog channels have no numbers that a name could be taken for.
            let text = match capture.analog.iter().any(|analog| analog.name == bare) {
                true => bare,
                false => name,
            };
            match capture.find(text).map_err(GoldenError::Unfit)? {
                Found::Logic(channel) => golden.add_logic(capture, bare, channel, &mut left)?,
                Found::Analog(at) => golden.add_analog(capture, bare, at)?,
            }
        }
        Ok(golden)
    }

    fn add_logic(
        &mut self,
        capture: &Capture<'_>,
        name: &str,
        channel: usize,
        left: &mut usize,
    ) -> Result<(), GoldenError> {
        let Some(logic) = &capture.logic else {
            return Ok(());
        };
        let segment = &logic.segment;
        let mut edges = Vec::new();
        let mut last = 0;
        for toggle in segment.toggles(channel, 1, segment.samples()) {
            let toggle = toggle?;
            *left = left.checked_sub(1).ok_or_else(|| {
                GoldenError::Unfit(format!(
                    "the channels have more than {GOLDEN_EDGES_MAX} edges: choose fewer channels, or record less"
                ))
            })?;
            edges.push(toggle - last);
            last = toggle;
        }
        self.logic.push(Edges {
            name: name.to_owned(),
            sample_rate_hz: segment.sample_rate_hz(),
            samples: segment.samples(),
            level: u8::from(segment.level_at(channel, 0)?),
            edges,
        });
        Ok(())
    }

    fn add_analog(
        &mut self,
        capture: &Capture<'_>,
        name: &str,
        at: usize,
    ) -> Result<(), GoldenError> {
        /// Samples that are read at once.
        const CHUNK: u64 = 1 << 16;
        let analog = &capture.analog[at];
        let samples = analog.segment.samples();
        let every = samples.div_ceil(GOLDEN_POINTS_MAX as u64).max(1);
        let mut values: Vec<u16> = Vec::new();
        let mut from = 0;
        while from < samples {
            let mut counts = Vec::new();
            let to = (from + CHUNK.next_multiple_of(every)).min(samples);
            analog.segment.read(from, to, &mut counts)?;
            let step = usize::try_from(every).unwrap_or(usize::MAX);
            values.extend(counts.iter().step_by(step));
            from = to;
        }
        self.analog.push(Points {
            name: name.to_owned(),
            unit: analog.unit.clone(),
            sample_rate_hz: analog.segment.sample_rate_hz(),
            samples,
            offset: analog.offset,
            step: analog.step,
            every,
            counts: values,
        });
        Ok(())
    }

    /// Reads a golden file.
    ///
    /// # Errors
    /// It is none, or larger than one is.
    pub fn read(bytes: &[u8]) -> Result<Self, GoldenError> {
        let refuse = |why: &str| Err(GoldenError::Unreadable(why.to_owned()));
        if bytes.len() > GOLDEN_BYTES_MAX {
            return refuse(&format!("it has more than {GOLDEN_BYTES_MAX} bytes"));
        }
        let golden: Self = serde_json::from_slice(bytes).map_err(|error| {
            GoldenError::Unreadable(format!("{error}: make it by `hostd golden`"))
        })?;
        if golden.hostd_golden != VERSION {
            return refuse(&format!(
                "it has form {}, and this hostd reads form {VERSION}",
                golden.hostd_golden
            ));
        }
        let edges: usize = golden.logic.iter().map(|channel| channel.edges.len()).sum();
        let is_rate = |rate: f64| rate.is_finite() && rate > 0.0;
        let is_right = golden.trigger_s.is_finite()
            && golden.time_ns >= 0
            && golden
                .amplitude
                .is_none_or(|off| off.is_finite() && off >= 0.0)
            && edges <= GOLDEN_EDGES_MAX
            && golden.logic.iter().all(|channel| {
                let after = channel.edges.iter().copied();
                let end = after.fold(0, u64::saturating_add);
                is_rate(channel.sample_rate_hz)
                    && channel.level < 2
                    && channel.edges.iter().all(|distance| *distance > 0)
                    && (channel.edges.is_empty() || end < channel.samples)
            })
            && golden.analog.iter().all(|channel| {
                is_rate(channel.sample_rate_hz)
                    && channel.every > 0
                    && channel.counts.len() <= GOLDEN_POINTS_MAX
                    && channel.offset.is_finite()
                    && channel.step.is_finite()
            });
        match is_right {
            true => Ok(golden),
            false => refuse("a value in it is out of its bounds: make it by `hostd golden`"),
        }
    }

    /// The file.
    ///
    /// # Errors
    /// It would be larger than one that is read.
    pub fn to_bytes(&self) -> Result<Vec<u8>, GoldenError> {
        let mut bytes =
            serde_json::to_vec(self).map_err(|error| GoldenError::Unfit(error.to_string()))?;
        bytes.push(b'\n');
        match bytes.len() > GOLDEN_BYTES_MAX {
            true => Err(GoldenError::Unfit(
                "it would be too large: choose fewer channels, or record less".to_owned(),
            )),
            false => Ok(bytes),
        }
    }
}

/// Golden files by the names that rules have for them.
#[derive(Debug, Clone, Default)]
pub struct Goldens(BTreeMap<String, Golden>);

impl Goldens {
    /// Adds one.
    ///
    /// # Errors
    /// The bytes are none, or there are too many.
    pub fn add(&mut self, name: &str, bytes: &[u8]) -> Result<(), GoldenError> {
        if self.0.len() == GOLDEN_FILES_MAX && !self.0.contains_key(name) {
            return Err(GoldenError::Many);
        }
        self.0.insert(name.to_owned(), Golden::read(bytes)?);
        Ok(())
    }

    /// Adds what rules compare with that name this capture by its id.
    ///
    /// # Errors
    /// The capture lacks a channel that they name, has more edges than may be, or is damaged, or there are too many.
    pub fn add_capture(
        &mut self,
        id: &str,
        capture: &Capture<'_>,
        rules: &[Rule],
    ) -> Result<(), GoldenError> {
        if self.0.len() == GOLDEN_FILES_MAX && !self.0.contains_key(id) {
            return Err(GoldenError::Many);
        }
        let its = || {
            rules
                .iter()
                .filter(|rule| rule.golden_capture() == Some(id))
        };
        // One that names none compares all.
        let all = its().any(|rule| rule.golden_channels().is_empty());
        let named = its().filter(|_| !all).flat_map(Rule::golden_channels);
        let mut channels: Vec<String> = named.map(|name| name.as_str().to_owned()).collect();
        channels.sort();
        channels.dedup();
        let make = Make {
            channels: &channels,
            time: GOLDEN_TIME,
            amplitude: None,
            align: Align::default(),
        };
        self.0.insert(id.to_owned(), Golden::make(capture, &make)?);
        Ok(())
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Golden> {
        self.0.get(name)
    }
}

/// Edges of a golden channel as a capture of this rate has them, from the golden capture's first sample on, in samples.
pub(crate) fn positions(channel: &Edges, rate_hz: f64) -> Vec<(f64, bool)> {
    let ratio = rate_hz / channel.sample_rate_hz;
    let each = channel.each();
    each.map(|(at, rises)| (snap(float(at) * ratio), rises))
        .collect()
}

/// Edges of a channel of a capture, at most so many.
pub(crate) fn first_edges(
    lane: &crate::lane::Lane<'_>,
    most: usize,
) -> Result<Vec<(u64, bool)>, Fault> {
    let edges = lane.edges()?.take(most);
    edges
        .map(|edge| edge.map(|edge| (edge.at, edge.rises)))
        .collect()
}

/// Ends with [`Fault::Late`] once time is over.
pub(crate) fn check(stop: Stop<'_>) -> Result<(), Fault> {
    match stop() {
        true => Err(Fault::Late),
        false => Ok(()),
    }
}
