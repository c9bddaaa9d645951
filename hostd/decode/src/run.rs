//! Decodes whole captures: a `.sr` archive or a stored segment.

use crate::annotation::Annotation;
use crate::changes::Taps8;
use crate::engine::{Plan, RawDecoder, StoredDecoder};
use crate::foreign::{Config, Feeder, ForeignDecoding, ForeignError, Stop};
use crate::length;
use crate::planes::CodePath;
use crate::segment::{Segment, SegmentError};
use crate::spec::{ProtocolConfig, Spec};
use crate::split;
use crate::sr::{Archive, Piece, SrError};
use std::ops::{ControlFlow, Range};

/// Where annotations go, in sigrok's order, a few thousand at a time. `Break` ends the decoding.
pub type Sink<'a> = &'a mut (dyn FnMut(&[Annotation]) -> ControlFlow<()> + Send);

/// The result of a finished decoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Samples decoded.
    pub samples: u64,
    /// Annotations passed to the sink.
    pub annotations: u64,
    /// The sink, or the limit of annotations, ended the decoding early.
    pub stopped: bool,
}

/// Why a capture could not be decoded; each fits after "failed to …".
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// The archive is damaged or too large.
    #[error("read the .sr archive")]
    Archive(#[from] SrError),
    /// The segment is damaged.
    #[error("read the capture segment")]
    Segment(#[from] SegmentError),
    /// The protocol has a bit rate, but the capture has no sample rate.
    #[error("decode a protocol with a bit rate from a capture without a sample rate")]
    NoSampleRate,
    /// Samples are to be fed piece by piece to a decoder from elsewhere.
    #[error("decode pieces of samples with a decoder from elsewhere; it takes whole captures")]
    NotHere,
    /// A decoder from elsewhere failed.
    #[error("decode with the {title}")]
    Foreign {
        /// Where it comes from, and its version.
        title: String,
        /// What happened.
        #[source]
        source: ForeignError,
    },
    /// A bit is shorter than a sample.
    #[error(
        "decode {baud_rate} baud from {rate} samples per second; at least one sample per bit is needed"
    )]
    SampleRateTooLow {
        /// Samples per second.
        rate: f64,
        /// Bits per second.
        baud_rate: f64,
    },
}

/// A decoding of a capture that can begin: its decoder takes the options and the sample rate, and one from elsewhere runs.
pub struct Decoding<'a> {
    source: Source<'a>,
    spec: &'a Spec,
    begun: Begun,
    /// Samples to decode.
    range: Range<u64>,
    /// Samples before this one are not known at all.
    since: u64,
    /// Shorter pulses are left out.
    pulse_min: u64,
    /// Annotations at most.
    most: u64,
}

enum Source<'a> {
    Archive(&'a Archive<'a>),
    Segment(&'a Segment<'a>),
}

enum Begun {
    Raw(RawDecoder),
    Stored(StoredDecoder),
    Foreign(Box<dyn ForeignDecoding>),
}

impl<'a> Decoding<'a> {
    /// Of the logic samples of an archive.
    ///
    /// # Errors
    /// The archive lacks the sample rate that the spec needs, or the decoder does not begin.
    pub fn of_sr(archive: &'a Archive<'a>, spec: &'a Spec) -> Result<Self, DecodeError> {
        let rate = archive.sample_rate_hz();
        let begun = match &spec.protocol {
            ProtocolConfig::Foreign(config) => {
                begin(config, rate.ok_or(DecodeError::NoSampleRate)?)?
            }
            _ => {
                // Inflating costs as much as decoding or far more, so the threads are left to that.
                let plan = Plan::Sequential(CodePath::best());
                Begun::Raw(RawDecoder::new(spec, rate, archive.unit_size(), plan)?)
            }
        };
        Ok(Self {
            source: Source::Archive(archive),
            spec,
            begun,
            range: 0..archive.total_samples(),
            since: 0,
            pulse_min: 0,
            most: u64::MAX,
        })
    }

    /// Of a stored segment, directly from its edges.
    ///
    /// # Errors
    /// The sample rate is too low for the spec, or the decoder does not begin.
    pub fn of_segment(segment: &'a Segment<'a>, spec: &'a Spec) -> Result<Self, DecodeError> {
        let rate = segment.sample_rate_hz();
        let begun = match &spec.protocol {
            ProtocolConfig::Foreign(config) => begin(config, rate)?,
            _ => Begun::Stored(StoredDecoder::new(spec, rate)?),
        };
        Ok(Self {
            source: Source::Segment(segment),
            spec,
            begun,
            range: 0..segment.samples(),
            since: 0,
            pulse_min: 0,
            most: u64::MAX,
        })
    }

    /// As if a segment had no pulses of fewer samples than these: what stands between two edges that are that near has the
    /// level before it. Edges that stay are where they were.
    #[must_use]
    pub fn without_glitches(mut self, samples: u64) -> Self {
        self.pulse_min = samples;
        self
    }

    /// These samples of a segment alone, as far as it has them. Whether there is an edge at the first one is known; nothing
    /// else is of what came before, so that annotations begin at the first point at which the decoder knows where it is:
    ///
    /// - I²C: a START;
    /// - SPI: a change of the chip select, at once if the chip is not selected; without one, at once;
    /// - UART: an idle time as long as a frame, which may have begun before, on each line by itself. Where there is none within a
    ///   thousand pulses, at once;
    /// - decoders from elsewhere: at once.
    #[must_use]
    pub fn within(mut self, range: Range<u64>) -> Self {
        let end = range.end.min(self.range.end);
        self.range = range.start.min(end)..end;
        self
    }

    /// Ends behind so many annotations.
    #[must_use]
    pub fn at_most(mut self, annotations: u64) -> Self {
        self.most = annotations;
        self
    }

    /// As if nothing were known before a sample, where samples were lost: no idle time began before it. The range that is
    /// decoded begins behind it.
    #[must_use]
    pub fn known_since(mut self, sample: u64) -> Self {
        self.since = sample;
        self
    }

    /// Decode. Memory stays bounded whatever the capture contains. The sink is also called with no annotations, to ask whether
    /// to go on: at each block of a stored capture, and by decoders from elsewhere.
    ///
    /// # Errors
    /// The capture turns out to be damaged, or a decoder from elsewhere fails.
    pub fn run(self, sink: Sink<'_>) -> Result<Summary, DecodeError> {
        let (mut annotations, most) = (0, self.most);
        let mut count = |part: &[Annotation]| {
            let room = usize::try_from(most - annotations).unwrap_or(usize::MAX);
            let part = &part[..part.len().min(room)];
            annotations += part.len() as u64;
            sink(part)?;
            match annotations < most {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        };
        let (samples, flow) = match (self.source, self.begun) {
            (Source::Archive(archive), Begun::Raw(decoder)) => {
                run_raw(archive, decoder, &mut count)?
            }
            (Source::Segment(segment), Begun::Stored(decoder)) => {
                let look = (&self.range, self.since, self.pulse_min);
                run_stored(segment, decoder, look, &mut count)?
            }
            (source, Begun::Foreign(decoding)) => {
                let job = (self.spec, decoding);
                let look = (&self.range, self.pulse_min);
                run_foreign(&source, job, look, &mut count)?
            }
            _ => unreachable!("`of_sr` and `of_segment` begin what fits their source"),
        };
        Ok(Summary {
            samples,
            annotations,
            stopped: flow.is_break(),
        })
    }
}

/// Samples of the shortest pulse that is no shorter than a time in nanoseconds, for [`Decoding::without_glitches`].
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates"
)]
pub fn pulse_samples(ns: f64, sample_rate_hz: f64) -> u64 {
    length::samples(ns, sample_rate_hz).ceil() as u64
}

/// Decodes the logic samples of an archive. Memory stays bounded whatever the archive contains.
///
/// # Errors
/// The archive turns out to be damaged, or it lacks the sample rate that the spec needs.
pub fn decode_sr(
    archive: &Archive<'_>,
    spec: &Spec,
    sink: Sink<'_>,
) -> Result<Summary, DecodeError> {
    Decoding::of_sr(archive, spec)?.run(sink)
}

/// Decodes a stored segment directly from its edges.
///
/// # Errors
/// The segment turns out to be damaged, or its sample rate is too low for the spec.
pub fn decode_segment(
    segment: &Segment<'_>,
    spec: &Spec,
    sink: Sink<'_>,
) -> Result<Summary, DecodeError> {
    Decoding::of_segment(segment, spec)?.run(sink)
}

fn begin(config: &Config, sample_rate_hz: f64) -> Result<Begun, DecodeError> {
    let decoding = config.begin(sample_rate_hz);
    let title = || config.foreign.title().to_owned();
    decoding
        .map(Begun::Foreign)
        .map_err(|source| DecodeError::Foreign {
            title: title(),
            source,
        })
}

/// The samples that were decoded, and whether the sink ended it.
type Ended = (u64, ControlFlow<()>);

fn run_raw(
    archive: &Archive<'_>,
    mut decoder: RawDecoder,
    sink: Sink<'_>,
) -> Result<Ended, DecodeError> {
    let flow = archive.visit_pieces(&mut |piece| match piece {
        Piece::Samples(raw) => decoder.feed(raw, sink),
        Piece::Repeated { samples, times } => decoder.feed_repeated(samples, times, sink),
    })?;
    if flow.is_break() {
        return Ok((decoder.samples(), flow));
    }
    Ok(decoder.finish(sink))
}

fn run_stored(
    segment: &Segment<'_>,
    mut decoder: StoredDecoder,
    (range, since, pulse_min): (&Range<u64>, u64, u64),
    sink: Sink<'_>,
) -> Result<Ended, DecodeError> {
    let lanes = decoder.lanes();
    if range.start > 0 {
        decoder.begin_inside(segment, range, since)?;
    }
    if pulse_min <= 1
        && let Some(splitter) = decoder.splitter()
    {
        let (end, flow) = split::run(segment, &mut decoder, &*splitter, range, sink)?;
        if flow.is_break() {
            return Ok((end.saturating_sub(range.start), flow));
        }
        return Ok((range.end - range.start, decoder.finish(range.end, sink)));
    }
    let mut active = Vec::new();
    let reader = segment.reader(&lanes).within(range);
    let mut reader = reader.without_glitches(pulse_min);
    while let Some((at, samples, levels)) = reader.next_block(&mut active)? {
        let mut flow = decoder.feed(at, samples, levels, &active, sink);
        if flow.is_continue() {
            flow = sink(&[]);
        }
        if flow.is_break() {
            return Ok(((at + samples).saturating_sub(range.start), flow));
        }
    }
    Ok((range.end - range.start, decoder.finish(range.end, sink)))
}

fn run_foreign(
    source: &Source<'_>,
    (spec, decoding): (&Spec, Box<dyn ForeignDecoding>),
    (range, pulse_min): (&Range<u64>, u64),
    sink: Sink<'_>,
) -> Result<Ended, DecodeError> {
    let ProtocolConfig::Foreign(config) = &spec.protocol else {
        unreachable!("only such a spec begins a decoder from elsewhere");
    };
    let samples = range.end - range.start;
    let mut feeder = Feeder::new(config, decoding, spec.shown(), range, sink);
    let fed = match source {
        Source::Archive(archive) => feed_archive(archive, &config.channels, &mut feeder),
        Source::Segment(segment) => feed_segment(segment, config, (range, pulse_min), &mut feeder),
    };
    match fed.and_then(|()| feeder.finish(range.end)) {
        Ok(()) => Ok((samples, ControlFlow::Continue(()))),
        Err(Stop::Enough) => Ok((samples, ControlFlow::Break(()))),
        Err(Stop::Failed(error)) => Err(error),
    }
}

fn feed_segment(
    segment: &Segment<'_>,
    config: &Config,
    (range, pulse_min): (&Range<u64>, u64),
    feeder: &mut Feeder<'_>,
) -> Result<(), Stop> {
    let changes = segment.changes(&config.channels).within(range);
    let mut changes = changes.without_glitches(pulse_min);
    while changes.next_block(|at, levels| feeder.change(at, levels))? {}
    Ok(())
}

fn feed_archive(
    archive: &Archive<'_>,
    channels: &[Option<usize>],
    feeder: &mut Feeder<'_>,
) -> Result<(), Stop> {
    let taps = Taps8::new(archive.unit_size(), channels);
    let (mut at, mut last) = (0, None);
    let mut stopped = None;
    let visited = archive.visit(&mut |raw| {
        match taps.changes(raw, at, last, |at, levels| feeder.change(at, levels)) {
            Ok(word) => last = word,
            Err(stop) => {
                stopped = Some(stop);
                return ControlFlow::Break(());
            }
        }
        at += (raw.len() / archive.unit_size()) as u64;
        ControlFlow::Continue(())
    });
    match (stopped, visited) {
        (Some(stop), _) => Err(stop),
        (None, Err(error)) => Err(Stop::Failed(error.into())),
        (None, Ok(_)) => Ok(()),
    }
}
