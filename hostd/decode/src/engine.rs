//! Drives a protocol decoder over raw samples: in windows that fit the cache, or in chunks on all
//! threads.

use crate::annotation::{Annotation, ClassSet};
use crate::clocked::Clocked;
use crate::conversation::{self, Conversation};
use crate::i2c::I2c;
use crate::planes::{CodePath, Taps};
use crate::protocol::{ActiveBlock, Part, Protocol, Splitter};
use crate::registers::{self, Registers};
use crate::run::{DecodeError, Sink};
use crate::segment::{Edge, Segment, SegmentError};
use crate::spec::{ProtocolConfig, Spec};
use crate::spi::Spi;
use crate::stage::Staged;
use crate::uart::{self, Uart};
use std::ops::{ControlFlow, Range};

/// Samples decoded between two checks of the annotations produced: half a megabyte of u16 samples,
/// so that events and samples share a second-level cache.
const WINDOW: usize = 256 * 1024;

/// Samples in one parallel chunk. Smaller ones lose 10 % at their seams, larger ones gain nothing.
const CHUNK: usize = 512 * 1024;

/// Pulses of a line in which an idle time of a frame is looked for: a hundred frames.
pub(crate) const PULSES_BEFORE_IDLE_MAX: u32 = 1000;

/// Annotations collected before the sink is called.
const FLUSH: usize = 8192;

/// How the work is distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    /// One thread, one pass: the least work.
    Sequential(CodePath),
    /// Chunks of about this many samples on rayon's threads. Costs a quarter more work.
    Parallel(usize),
}

impl Plan {
    /// Parallel if there are several threads.
    pub fn best() -> Self {
        if rayon::current_num_threads() > 1 {
            Self::Parallel(CHUNK)
        } else {
            Self::Sequential(CodePath::best())
        }
    }
}

/// Decodes raw samples that arrive in blocks of any size.
pub struct RawDecoder {
    protocol: Box<dyn Protocol>,
    taps: Taps,
    plan: Plan,
    /// Samples taken so far.
    at: u64,
    annotations: Vec<Annotation>,
}

impl RawDecoder {
    /// A decoder at sample 0 of a capture with samples of `unit` bytes (1..=8).
    ///
    /// # Errors
    /// The protocol needs a sample rate that is missing or too low.
    pub fn new(
        spec: &Spec,
        sample_rate_hz: Option<f64>,
        unit: usize,
        plan: Plan,
    ) -> Result<Self, DecodeError> {
        let protocol = build(spec, sample_rate_hz)?;
        let taps = Taps::new(unit, &protocol.lanes());
        Ok(Self {
            protocol,
            taps,
            plan,
            at: 0,
            annotations: Vec::new(),
        })
    }

    /// Takes whole samples; a remainder of `raw` smaller than a sample is ignored.
    pub fn feed(&mut self, raw: &[u8], sink: Sink<'_>) -> ControlFlow<()> {
        let unit = self.taps.unit();
        let window = match self.plan {
            Plan::Sequential(_) => WINDOW,
            Plan::Parallel(chunk) => chunk.saturating_mul(rayon::current_num_threads()),
        };
        for raw in raw[..raw.len() / unit * unit].chunks(window.saturating_mul(unit)) {
            let out = &mut self.annotations;
            match self.plan {
                Plan::Sequential(path) => {
                    self.protocol.feed(raw, &self.taps, self.at, path, out);
                }
                Plan::Parallel(chunk) => {
                    self.protocol
                        .feed_chunks(raw, &self.taps, self.at, chunk, out);
                }
            }
            self.at += (raw.len() / unit) as u64;
            if self.annotations.len() >= FLUSH {
                flush(&mut self.annotations, sink)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Takes the same whole samples, which are all equal, so many times.
    pub fn feed_repeated(&mut self, samples: &[u8], times: u64, sink: Sink<'_>) -> ControlFlow<()> {
        let unit = self.taps.unit();
        let count = ((samples.len() / unit) as u64).saturating_mul(times);
        let Some(rest) = count.checked_sub(1) else {
            return ControlFlow::Continue(());
        };
        // An edge can be at the first one alone.
        let first = &samples[..unit];
        self.feed(first, sink)?;
        let (levels, out) = (self.taps.levels(first), &mut self.annotations);
        self.protocol.feed_active(self.at, rest, levels, &[], out);
        self.at += rest;
        if self.annotations.len() >= FLUSH {
            flush(&mut self.annotations, sink)?;
        }
        ControlFlow::Continue(())
    }

    /// Samples taken so far.
    pub fn samples(&self) -> u64 {
        self.at
    }

    /// Ends the capture; returns its number of samples.
    pub fn finish(mut self, sink: Sink<'_>) -> (u64, ControlFlow<()>) {
        self.protocol.finish(self.at, &mut self.annotations);
        let flow = flush(&mut self.annotations, sink);
        (self.at, flow)
    }
}

/// Decodes stored samples. It is given only the blocks that contain edges.
pub(crate) struct StoredDecoder {
    protocol: Box<dyn Protocol>,
    annotations: Vec<Annotation>,
}

impl StoredDecoder {
    pub(crate) fn new(spec: &Spec, sample_rate_hz: f64) -> Result<Self, DecodeError> {
        let protocol = build(spec, Some(sample_rate_hz))?;
        Ok(Self {
            protocol,
            annotations: Vec::new(),
        })
    }

    pub(crate) fn lanes(&self) -> Vec<Option<usize>> {
        self.protocol.lanes()
    }

    /// Samples before a range are not known, but for how long the lanes have been idle since sample `since`. If that is behind
    /// a gap, another one may follow the range.
    pub(crate) fn begin_inside(
        &mut self,
        segment: &Segment<'_>,
        range: &Range<u64>,
        since: u64,
    ) -> Result<(), SegmentError> {
        let from = range.start;
        let known = match since {
            0 => 0..segment.samples(),
            since => since..range.end,
        };
        let mut idle_from = Vec::new();
        for (lane, channel) in self.lanes().into_iter().enumerate() {
            let channel = channel.filter(|&channel| channel < segment.channels());
            idle_from.push(match channel.zip(self.protocol.idle(lane)) {
                Some((channel, idle)) => first_idle(segment, channel, (from, &known), idle)?,
                None => from,
            });
        }
        self.protocol.begin_inside(&idle_from);
        Ok(())
    }

    pub(crate) fn feed(
        &mut self,
        at: u64,
        count: u64,
        levels: u64,
        active: &[ActiveBlock],
        sink: Sink<'_>,
    ) -> ControlFlow<()> {
        self.protocol
            .feed_active(at, count, levels, active, &mut self.annotations);
        if self.annotations.len() >= FLUSH {
            flush(&mut self.annotations, sink)?;
        }
        ControlFlow::Continue(())
    }

    /// What decodes parts of the capture side by side; none if the protocol cannot be decoded so.
    pub(crate) fn splitter(&self) -> Option<Box<dyn Splitter>> {
        self.protocol.splitter()
    }

    /// Takes the next part that the splitter decoded.
    pub(crate) fn join(&mut self, part: Part, sink: Sink<'_>) -> ControlFlow<()> {
        self.protocol.join(part, &mut self.annotations);
        if self.annotations.len() >= FLUSH {
            flush(&mut self.annotations, sink)?;
        }
        ControlFlow::Continue(())
    }

    pub(crate) fn finish(mut self, end: u64, sink: Sink<'_>) -> ControlFlow<()> {
        self.protocol.finish(end, &mut self.annotations);
        flush(&mut self.annotations, sink)
    }
}

pub(crate) fn build(
    spec: &Spec,
    sample_rate_hz: Option<f64>,
) -> Result<Box<dyn Protocol>, DecodeError> {
    let shown = spec.shown();
    Ok(match &spec.protocol {
        ProtocolConfig::I2c(config) => Box::new(Clocked::new(I2c::new(config.clone(), shown))),
        ProtocolConfig::Spi(config) => Box::new(Clocked::new(Spi::new(config, shown))),
        ProtocolConfig::Uart(config) => Box::new(uart(config, shown, sample_rate_hz)?.0),
        ProtocolConfig::Registers(config) => {
            let bus = Clocked::new(I2c::new(config.bus.clone(), registers::NEEDED));
            let stage = Registers::new(config);
            Box::new(Staged::new(Box::new(bus), stage, shown))
        }
        ProtocolConfig::Conversation(config) => {
            let (uart, rate) = uart(&config.uart, conversation::NEEDED, sample_rate_hz)?;
            let stage = Conversation::new(config, rate);
            Box::new(Staged::new(Box::new(uart), stage, shown))
        }
        ProtocolConfig::Foreign(_) => return Err(DecodeError::NotHere),
    })
}

/// A decoder of a UART, and the sample rate.
fn uart(
    config: &uart::Config,
    shown: ClassSet,
    sample_rate_hz: Option<f64>,
) -> Result<(Uart, f64), DecodeError> {
    let rate = sample_rate_hz.ok_or(DecodeError::NoSampleRate)?;
    let baud_rate = config.baud_rate;
    let uart = Uart::new(config, shown, rate);
    let uart = uart.ok_or(DecodeError::SampleRateTooLow { rate, baud_rate })?;
    Ok((uart, rate))
}

/// Where a channel first has a level for so many samples, from sample `from` on; `from` where that is not soon. What was
/// before `from` counts, as far as it is `known`.
fn first_idle(
    segment: &Segment<'_>,
    channel: usize,
    (from, known): (u64, &Range<u64>),
    (idle, samples): (bool, u64),
) -> Result<u64, SegmentError> {
    let mut line = segment.line(channel)?;
    let mut begun = line.previous_edge(from, Edge::Either)?;
    if known.start > 0 {
        begun = begun.max(Some(known.start));
    }
    let mut level = line.level_at(from.saturating_sub(1))?;
    let mut at = from;
    for _ in 0..PULSES_BEFORE_IDLE_MAX {
        let next = line.next_edge(at, Edge::Either)?;
        let next = next.filter(|next| *next < known.end);
        let end = next.unwrap_or(known.end);
        // A capture begins idle.
        let is_long = begun.is_none_or(|begun| end.saturating_sub(begun) >= samples);
        if level == idle && is_long {
            return Ok(begun.unwrap_or(from).max(from));
        }
        let Some(next) = next else {
            break;
        };
        (begun, level, at) = (Some(next), !level, next + 1);
    }
    Ok(from)
}

/// Passes annotations to the sink, `FLUSH` at a time.
fn flush(annotations: &mut Vec<Annotation>, sink: Sink<'_>) -> ControlFlow<()> {
    for part in annotations.chunks(FLUSH) {
        sink(part)?;
    }
    annotations.clear();
    ControlFlow::Continue(())
}
