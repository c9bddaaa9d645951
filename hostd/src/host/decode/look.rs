//! What of a capture is decoded: samples, channels, pulses.

use std::ops::Range;
use std::sync::Arc;

use admission::OwnedPermit;
use decode::analog::ThresholdError;
use decode::density::Density;
use decode::segment::{Segment, SegmentError};
use decode::{Decoding, Spec, pulse_samples};
use std::ops::ControlFlow;

use super::super::bindings::hostd::host::decode::{Error, Job};
use crate::summary;
use lab::captures::reader::{ReadError, Reader};

/// A part of a capture, as its decoder is to see it.
pub(super) struct Look {
    reader: Arc<Reader>,
    /// Analog samples that are read as logic, in place of the logic channels.
    logic: Option<Vec<u8>>,
    range: Range<u64>,
    /// Shorter pulses are left out.
    pulse_min: u64,
    /// Annotations at most.
    limit: u64,
    /// A place among those who are sent whole captures, where reading alone takes long.
    place: Option<OwnedPermit>,
}

impl Look {
    /// What a job asks for of a capture. Blocks on the disk, and for as long as analog samples take or `go_on` lets them.
    pub(super) fn new(
        reader: Arc<Reader>,
        job: &Job,
        place: Option<OwnedPermit>,
        go_on: &dyn Fn() -> bool,
    ) -> Result<Self, Wrong> {
        let logic = match job.thresholds {
            Some(thresholds) => Some(as_logic(&reader, thresholds, go_on)?),
            None => None,
        };
        let mut look = Self {
            reader,
            logic,
            range: 0..0,
            pulse_min: 0,
            limit: job.limit.unwrap_or(u64::MAX),
            place,
        };
        let segment = look.segment()?;
        let range = range(job, segment.samples())?;
        let pulse_min = job
            .glitch_ns
            .map_or(0, |ns| pulse_samples(ns, segment.sample_rate_hz()));
        (look.range, look.pulse_min) = (range, pulse_min);
        Ok(look)
    }

    /// Whether it holds a place for as long as it is there.
    pub(super) fn has_place(&self) -> bool {
        self.place.is_some()
    }

    /// The samples.
    pub(super) fn segment(&self) -> Result<Segment<'_>, ReadError> {
        match &self.logic {
            Some(bytes) => Ok(Segment::open(bytes)?),
            None => self.reader.logic(),
        }
    }

    /// Begins to decode.
    pub(super) fn decoding<'d>(
        &self,
        segment: &'d Segment<'d>,
        spec: &'d Spec,
    ) -> Result<Decoding<'d>, ReadError> {
        let decoding = Decoding::of_segment(segment, spec)?;
        let decoding = decoding.within(self.range.clone());
        let decoding = decoding.without_glitches(self.pulse_min);
        Ok(decoding.at_most(self.limit))
    }

    /// How many events of each class begin in each of some stretches, as JSON. None if `go_on` ended it.
    pub(super) fn density(
        &self,
        spec: &Spec,
        stretches: usize,
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<Option<String>, ReadError> {
        let segment = self.segment()?;
        let decoding = self.decoding(&segment, spec)?;
        let mut density = Density::new(self.range.clone(), stretches);
        let mut is_whole = true;
        decoding.run(&mut |found| {
            density.add(found);
            is_whole = go_on();
            match is_whole {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        })?;
        Ok(is_whole.then(|| summary::json(spec, &self.range, &density)))
    }
}

/// Why a capture cannot be looked at so.
pub(super) enum Wrong {
    Asked(Error),
    Read(ReadError),
}

impl From<ReadError> for Wrong {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

/// Nothing waits for the result any more.
pub(super) fn ended() -> Error {
    Error::Other("the decoding was ended".to_owned())
}

/// A field that is wrong, and a fragment that fits "failed to …".
fn wrong(field: &str, cause: String) -> Wrong {
    Wrong::Asked(Error::Invalid((field.to_owned(), cause)))
}

/// The analog channel as logic: high from the first value on, low up to the second one.
fn as_logic(
    reader: &Reader,
    (high, low): (f64, f64),
    go_on: &dyn Fn() -> bool,
) -> Result<Vec<u8>, Wrong> {
    let channels = reader.record().channels.iter();
    let Some(channel) = channels.clone().find(|channel| channel.la.is_none()) else {
        let cause = "read an analog channel as logic: the capture has none".to_owned();
        return Err(wrong("threshold", cause));
    };
    let level = |count: u16| match channel.value(count) {
        value if value >= high => Some(true),
        value if value <= low => Some(false),
        _ => None,
    };
    reader
        .analog()?
        .as_logic(level, go_on)
        .map_err(|error| match error {
            ThresholdError::Damaged(error) => Wrong::Read(ReadError::Analog(error)),
            ThresholdError::Ended => Wrong::Asked(ended()),
            ThresholdError::TooLong { .. } | ThresholdError::Encoder(_) => {
                wrong("threshold", error.to_string())
            }
        })
}

fn range(job: &Job, samples: u64) -> Result<Range<u64>, Wrong> {
    let range = job.first.unwrap_or(0)..job.end.unwrap_or(samples);
    if samples < range.end {
        let cause = format!("decode up to sample {}: there are {samples}", range.end);
        return Err(wrong("to", cause));
    }
    if range.end <= range.start && 0 < range.start {
        let cause = format!("decode from sample {} to {}", range.start, range.end);
        return Err(wrong("from", cause));
    }
    Ok(range)
}

impl From<SegmentError> for Wrong {
    fn from(error: SegmentError) -> Self {
        Self::Read(error.into())
    }
}
