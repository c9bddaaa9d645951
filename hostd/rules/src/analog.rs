//! An analog channel within the range of a rule, from block to block.

use crate::capture::Analog;
use crate::evaluate::Fault;
use crate::lane::{Range, Stop};
use crate::report::Place;

/// An analog channel within a range.
#[derive(Clone, Copy)]
pub(crate) struct Trace<'a> {
    pub(crate) analog: &'a Analog<'a>,
    pub(crate) range: Range,
    pub(crate) stop: Stop<'a>,
}

/// A stored block, as far as it is in the range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Part {
    /// Its first sample, and the first one behind it.
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// Its lowest and its highest value.
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Trace<'_> {
    /// The blocks of the range. Only those at its ends are unpacked.
    pub(crate) fn parts(&self) -> Result<Vec<Part>, Fault> {
        let Range { from, to, .. } = self.range;
        let mut parts = Vec::new();
        for extent in self.analog.segment.extents()? {
            let end = extent.start + u64::from(extent.samples);
            let (start, stop) = (extent.start.max(from), end.min(to));
            if start >= stop {
                continue;
            }
            let (min, max) = match (start, stop) == (extent.start, end) {
                true => (extent.min, extent.max),
                false => {
                    let counts = self.counts(start, stop)?;
                    let min = counts.iter().copied().min().unwrap_or_default();
                    (min, counts.iter().copied().max().unwrap_or_default())
                }
            };
            let (one, other) = (self.analog.value(min), self.analog.value(max));
            parts.push(Part {
                from: start,
                to: stop,
                low: one.min(other),
                high: one.max(other),
            });
        }
        Ok(parts)
    }

    pub(crate) fn counts(&self, from: u64, to: u64) -> Result<Vec<u16>, Fault> {
        if (self.stop)() {
            return Err(Fault::Late);
        }
        let mut counts = Vec::new();
        self.analog.segment.read(from, to, &mut counts)?;
        Ok(counts)
    }

    /// The values of some samples, with their numbers.
    pub(crate) fn values(
        &self,
        from: u64,
        to: u64,
    ) -> Result<impl DoubleEndedIterator<Item = (u64, f64)> + use<'_>, Fault> {
        let counts = self.counts(from, to)?;
        let analog = self.analog;
        let samples: Vec<(u64, f64)> = (from..)
            .zip(counts)
            .map(|(at, count)| (at, analog.value(count)))
            .collect();
        Ok(samples.into_iter())
    }

    pub(crate) fn place(&self, from: u64, to: u64) -> Place {
        self.range.place(&self.analog.name, from, to)
    }
}
