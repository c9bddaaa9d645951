//! A capture zoomed out: the lowest and highest value in each of a number of stretches.

use std::ops::Range;

use super::reader::{ReadError, Reader};
use store::captures::ChannelRecord;

/// Analog samples unpacked at a time: a stored block.
const BLOCK_SAMPLES: u64 = decode::analog::ANALOG_BLOCK_SAMPLES as u64;

/// What a channel does in each stretch, in its unit; 0 and 1 for digital ones.
#[derive(Debug, Clone, PartialEq)]
pub struct Overview {
    pub min: Vec<f64>,
    pub max: Vec<f64>,
}

/// Equal stretches of a range of samples, at least one sample each.
#[derive(Debug, Clone, Copy)]
struct Stretches {
    from: u64,
    samples: u64,
    count: u64,
}

impl Stretches {
    fn first_sample(self, stretch: u64) -> u64 {
        let whole = u128::from(stretch) * u128::from(self.samples) / u128::from(self.count);
        self.from + u64::try_from(whole).expect("it is within the range")
    }

    fn end(self) -> u64 {
        self.from + self.samples
    }

    /// Which stretch a sample of the range is in.
    fn of(self, sample: u64) -> u64 {
        // The first stretch that ends after the sample.
        let at = u128::from(sample - self.from + 1) * u128::from(self.count);
        let stretch = at.div_ceil(u128::from(self.samples)) - 1;
        u64::try_from(stretch).expect("there are fewer stretches than samples")
    }
}

/// Summarise `range` of channel number `channel` in `points` stretches; fewer if it has fewer
/// samples. Blocks on the disk.
///
/// # Errors
/// The file is damaged, or there is no such channel.
pub fn overview(
    reader: &Reader,
    channel: usize,
    range: &Range<u64>,
    points: u32,
) -> Result<Overview, ReadError> {
    let channels = &reader.record().channels;
    let record = channels.get(channel).ok_or(ReadError::NoChannel)?;
    let samples = range.end.min(record.samples).saturating_sub(range.start);
    if samples == 0 {
        return Ok(Overview {
            min: Vec::new(),
            max: Vec::new(),
        });
    }
    let stretches = Stretches {
        from: range.start,
        samples,
        count: u64::from(points.max(1)).min(samples),
    };
    if record.la.is_none() {
        return analog(reader, record, stretches);
    }
    let before = channels[..channel].iter();
    digital(reader, before.filter(|c| c.la.is_some()).count(), stretches)
}

fn digital(reader: &Reader, bit: usize, stretches: Stretches) -> Result<Overview, ReadError> {
    let segment = reader.logic()?;
    let count = usize::try_from(stretches.count).expect("the caller asks for few");
    let mut low = vec![false; count];
    let mut high = vec![false; count];
    let mut mark = |level: bool, from: u64, to: u64| {
        let seen = if level { &mut high } else { &mut low };
        let index = |stretch| usize::try_from(stretch).expect("there are few");
        seen[index(stretches.of(from))..=index(stretches.of(to - 1))].fill(true);
    };
    let mut level = segment.level_at(bit, stretches.from)?;
    let mut at = stretches.from;
    for toggle in segment.toggles(bit, stretches.from + 1, stretches.end()) {
        let toggle = toggle?;
        mark(level, at, toggle);
        (at, level) = (toggle, !level);
    }
    mark(level, at, stretches.end());
    Ok(Overview {
        min: low.iter().map(|seen| f64::from(u8::from(!seen))).collect(),
        max: high.iter().map(|seen| f64::from(u8::from(*seen))).collect(),
    })
}

fn analog(
    reader: &Reader,
    record: &ChannelRecord,
    stretches: Stretches,
) -> Result<Overview, ReadError> {
    let segment = reader.analog()?;
    let mut found = vec![(u16::MAX, u16::MIN); usize::try_from(stretches.count).unwrap_or(0)];
    let mut merge = |stretch: u64, min: u16, max: u16| {
        let seen = &mut found[usize::try_from(stretch).expect("there are few")];
        *seen = (seen.0.min(min), seen.1.max(max));
    };
    let extents = segment.extents().map_err(ReadError::Analog)?;
    let mut counts = Vec::with_capacity(usize::try_from(BLOCK_SAMPLES).unwrap_or(0));
    for extent in extents {
        let end = extent.start + u64::from(extent.samples);
        let (from, to) = (extent.start.max(stretches.from), end.min(stretches.end()));
        if from >= to {
            continue;
        }
        let (first, last) = (stretches.of(from), stretches.of(to - 1));
        if first == last && (from, to) == (extent.start, end) {
            // The block says so itself.
            merge(first, extent.min, extent.max);
            continue;
        }
        counts.clear();
        segment
            .read(from, to, &mut counts)
            .map_err(ReadError::Analog)?;
        let mut rest = counts.as_slice();
        for stretch in first..=last {
            let stretch_end = stretches.first_sample(stretch + 1).min(to);
            let len = stretch_end - stretches.first_sample(stretch).max(from);
            let len = usize::try_from(len).expect("a block is small");
            let (here, later) = rest.split_at(len.min(rest.len()));
            rest = later;
            if let (Some(min), Some(max)) = (here.iter().min(), here.iter().max()) {
                merge(stretch, *min, *max);
            }
        }
    }
    // An inverting front end turns high counts into low values.
    let value = |count: u16| record.value(count);
    let pairs = found.iter().map(|(min, max)| (value(*min), value(*max)));
    let (min, max) = pairs.map(|(a, b)| (a.min(b), a.max(b))).unzip();
    Ok(Overview { min, max })
}

#[cfg(test)]
mod tests {
    use super::Stretches;

    #[test]
    fn every_sample_is_in_the_stretch_that_begins_before_it() {
        for (samples, count) in [(10, 3), (10, 10), (1, 1), (1000, 7), (65_537, 64)] {
            let stretches = Stretches {
                from: 100,
                samples,
                count,
            };
            let mut seen = 0;
            for sample in 100..stretches.end() {
                let stretch = stretches.of(sample);
                assert!(
                    stretches.first_sample(stretch) <= sample,
                    "{samples} {count}"
                );
                assert!(
                    sample < stretches.first_sample(stretch + 1),
                    "{samples} {count}"
                );
                assert!(stretch == seen || stretch == seen + 1);
                seen = stretch;
            }
            assert_eq!(seen, count - 1);
        }
    }
}
