//! A capture zoomed out: the lowest and highest value in each of a number of stretches.

use std::ops::Range;

use decode::pyramid::Zoom;
use decode::segment::SegmentError;

use super::reader::{ReadError, Reader};

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
    let pairs = match reader.logic_number(channel)? {
        Some(number) => {
            let (segment, pyramid) = (reader.logic()?, reader.logic_pyramid()?);
            let zoom = Zoom::of_logic(&segment, pyramid.as_ref(), number)?;
            of(zoom, stretches)?
        }
        None => {
            let (segment, pyramid) = (reader.analog()?, reader.analog_pyramid()?);
            let zoom = Zoom::of_analog(&segment, pyramid.as_ref());
            of(zoom, stretches).map_err(ReadError::Analog)?
        }
    };
    let value = |count: u16| match record.la {
        Some(_) => f64::from(count),
        None => record.value(count),
    };
    // An inverting front end turns high counts into low values.
    let pairs = pairs.into_iter().map(|(a, b)| (value(a), value(b)));
    let (min, max) = pairs.map(|(a, b)| (a.min(b), a.max(b))).unzip();
    Ok(Overview { min, max })
}

/// Look at each stretch in turn.
fn of(mut zoom: Zoom<'_>, stretches: Stretches) -> Result<Vec<(u16, u16)>, SegmentError> {
    let mut found = Vec::with_capacity(usize::try_from(stretches.count).unwrap_or(0));
    for stretch in 0..stretches.count {
        let range = stretches.first_sample(stretch)..stretches.first_sample(stretch + 1);
        let extent = zoom.extent(range)?;
        found.push(extent.ok_or(SegmentError::Truncated {
            what: "the samples of a channel",
        })?);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::Stretches;

    #[test]
    fn stretches_follow_one_another_and_none_is_empty() {
        for (samples, count) in [(10, 3), (10, 10), (1, 1), (1000, 7), (65_537, 64)] {
            let stretches = Stretches {
                from: 100,
                samples,
                count,
            };
            let firsts: Vec<u64> = (0..=count).map(|at| stretches.first_sample(at)).collect();
            assert_eq!((firsts[0], firsts.last()), (100, Some(&(100 + samples))));
            assert!(firsts.is_sorted_by(|a, b| a < b), "{samples} {count}");
        }
    }
}
