//! Decodes whole captures: a `.sr` archive or a stored segment.

use crate::annotation::Annotation;
use crate::engine::{Plan, RawDecoder, StoredDecoder};
use crate::planes::CodePath;
use crate::segment::{Segment, SegmentError};
use crate::spec::Spec;
use crate::sr::{Archive, SrError};
use std::ops::ControlFlow;

/// Where annotations go, in sigrok's order, a few thousand at a time. `Break` ends the decoding.
pub type Sink<'a> = &'a mut (dyn FnMut(&[Annotation]) -> ControlFlow<()> + Send);

/// The result of a finished decoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Samples decoded.
    pub samples: u64,
    /// Annotations passed to the sink.
    pub annotations: u64,
    /// The sink ended the decoding early.
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
    #[error("decode a UART from a capture without a sample rate")]
    NoSampleRate,
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

/// Decodes the logic samples of an archive. Memory stays bounded whatever the archive contains.
///
/// # Errors
/// The archive turns out to be damaged, or it lacks the sample rate that the spec needs.
pub fn decode_sr(
    archive: &Archive<'_>,
    spec: &Spec,
    sink: Sink<'_>,
) -> Result<Summary, DecodeError> {
    let rate = archive.sample_rate_hz();
    // Inflating costs as much as decoding or far more, so the threads are left to that.
    let plan = Plan::Sequential(CodePath::best());
    let mut decoder = RawDecoder::new(spec, rate, archive.unit_size(), plan)?;
    let mut annotations = 0;
    let mut count = |part: &[Annotation]| {
        annotations += part.len() as u64;
        sink(part)
    };
    let flow = archive.visit(&mut |raw| decoder.feed(raw, &mut count))?;
    let (samples, last) = if flow.is_break() {
        (decoder.samples(), flow)
    } else {
        decoder.finish(&mut count)
    };
    Ok(Summary {
        samples,
        annotations,
        stopped: last.is_break(),
    })
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
    let mut decoder = StoredDecoder::new(spec, segment.sample_rate_hz())?;
    let lanes = decoder.lanes();
    let mut annotations = 0;
    let mut count = |part: &[Annotation]| {
        annotations += part.len() as u64;
        sink(part)
    };
    let mut active = Vec::new();
    let mut reader = segment.reader(&lanes);
    while let Some((at, samples, levels)) = reader.next_block(&mut active)? {
        if decoder
            .feed(at, samples, levels, &active, &mut count)
            .is_break()
        {
            let samples = at + samples;
            return Ok(Summary {
                samples,
                annotations,
                stopped: true,
            });
        }
    }
    let samples = segment.samples();
    let flow = decoder.finish(samples, &mut count);
    Ok(Summary {
        samples,
        annotations,
        stopped: flow.is_break(),
    })
}
