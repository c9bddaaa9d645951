//! What of a capture is decoded: samples, channels, pulses.

use std::ops::Range;
use std::sync::Arc;

use admission::OwnedPermit;
use decode::analog::ThresholdError;
use decode::density::Density;
use decode::gaps::{Gaps, Part};
use decode::segment::{Segment, SegmentError};
use decode::{Annotation, Decoding, Format, Spec, pulse_samples};
use std::io::{self, Write};
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
    /// Logic samples that were lost; no annotation spans them.
    gaps: Gaps,
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
        (job, spec): (&Job, &Spec),
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
            gaps: Gaps::default(),
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
        if look.logic.is_none() {
            look.gaps = Gaps::new(look.reader.record().gaps.iter().copied());
        }
        if spec.is_foreign() {
            few(&look.gaps.parts(&look.range))?;
        }
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

    /// Begins to decode the parts between gaps, of which there is at least one.
    pub(super) fn decoding<'d>(
        &self,
        segment: &'d Segment<'d>,
        spec: &'d Spec,
    ) -> Result<Parts<'d>, ReadError> {
        let mut parts = Parts {
            segment,
            spec,
            pulse_min: self.pulse_min,
            left: self.gaps.parts(&self.range).into_iter(),
            begun: None,
        };
        parts.begun = parts.begin()?;
        Ok(parts)
    }

    /// Gives on what is within the limit.
    pub(super) fn run(&self, mut parts: Parts<'_>, take: Take<'_>) -> Result<(), ReadError> {
        let mut left = self.limit;
        while let Some(begun) = parts.begun.take() {
            let mut flow = ControlFlow::Continue(());
            let mut give = |seen: Seen<'_>| {
                let most = usize::try_from(left).unwrap_or(usize::MAX);
                let seen = seen.at_most(most);
                left -= seen.count() as u64;
                flow = take(seen);
                if left == 0 {
                    flow = ControlFlow::Break(());
                }
                flow
            };
            match begun {
                Begun::Lost(lost) => {
                    let _ = give(Seen::Lost(&lost));
                }
                Begun::Decoding(decoding) => {
                    decoding.run(&mut |found| give(Seen::Annotations(found)))?;
                }
            }
            if flow.is_break() {
                break;
            }
            parts.begun = parts.begin()?;
        }
        Ok(())
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
        self.run(decoding, &mut |seen| {
            if let Seen::Annotations(found) = seen {
                density.add(found);
            }
            is_whole = go_on();
            match is_whole {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        })?;
        Ok(is_whole.then(|| summary::json(spec, &self.range, &density, &self.gaps)))
    }
}

/// What a decoding sees.
#[derive(Clone, Copy)]
pub(super) enum Seen<'s> {
    Annotations(&'s [Annotation]),
    /// Samples that were lost.
    Lost(&'s Range<u64>),
}

/// Takes what is seen, and says whether to go on.
pub(super) type Take<'t> = &'t mut (dyn FnMut(Seen<'_>) -> ControlFlow<()> + Send);

impl Seen<'_> {
    /// The first events of it.
    pub(super) fn at_most(self, most: usize) -> Self {
        match self {
            Self::Annotations(found) => Self::Annotations(&found[..found.len().min(most)]),
            Self::Lost(lost) => Self::Lost(lost),
        }
    }

    /// Events.
    pub(super) fn count(self) -> usize {
        match self {
            Self::Annotations(found) => found.len(),
            Self::Lost(_) => 1,
        }
    }

    /// Writes a line for each event.
    pub(super) fn write(self, format: Format, spec: &Spec, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Annotations(found) => format.write(spec, found, out),
            Self::Lost(lost) => format.write_lost(lost, out),
        }
    }
}

/// What is left to decode.
pub(super) struct Parts<'d> {
    segment: &'d Segment<'d>,
    spec: &'d Spec,
    pulse_min: u64,
    left: std::vec::IntoIter<Part>,
    /// The part that comes next.
    begun: Option<Begun<'d>>,
}

/// A part that can be decoded, or was lost.
enum Begun<'d> {
    Decoding(Decoding<'d>),
    Lost(Range<u64>),
}

impl<'d> Parts<'d> {
    /// Begins with the next part; none if there is no more.
    fn begin(&mut self) -> Result<Option<Begun<'d>>, ReadError> {
        Ok(match self.left.next() {
            None => None,
            Some(Part::Lost(lost)) => Some(Begun::Lost(lost)),
            Some(Part::Known { range, since }) => {
                let decoding = Decoding::of_segment(self.segment, self.spec)?;
                let decoding = decoding.within(range).known_since(since);
                Some(Begun::Decoding(decoding.without_glitches(self.pulse_min)))
            }
        })
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

/// Most parts between gaps that a decoder from elsewhere gets: a program or a plugin begins once more for each.
const FOREIGN_PARTS_MAX: usize = 16;

/// Whether a decoder from elsewhere may have the parts of a capture.
fn few(parts: &[Part]) -> Result<(), Wrong> {
    let known = |part: &&Part| matches!(part, Part::Known { .. });
    match parts.iter().filter(known).count() {
        ..=FOREIGN_PARTS_MAX => Ok(()),
        count => Err(wrong(
            "from",
            format!(
                "decode {count} parts between gaps with a decoder that begins for each; \
                 choose a range with at most {FOREIGN_PARTS_MAX} by `from` and `to`"
            ),
        )),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decoder_from_elsewhere_gets_few_parts() {
        let gaps = |count: u64| Gaps::new((1..=count).map(|gap| (100 * gap, 100 * gap + 10)));
        let most = FOREIGN_PARTS_MAX as u64 - 1;
        assert!(few(&gaps(most).parts(&(0..100_000))).is_ok());
        let Err(Wrong::Asked(Error::Invalid((field, cause)))) =
            few(&gaps(most + 1).parts(&(0..100_000)))
        else {
            panic!("as many as there are");
        };
        assert_eq!(field, "from");
        assert!(cause.starts_with("decode 17 parts"), "{cause}");
        // Of a range only what is in it counts.
        assert!(few(&gaps(4096).parts(&(150..250))).is_ok());
    }
}
