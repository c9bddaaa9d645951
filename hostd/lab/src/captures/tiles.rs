//! Aligned stretches of several channels at one level: what a viewer draws.

use std::ops::Range;

use decode::pyramid::{analog_stretches, logic_stretches};

use super::reader::{ReadError, Reader};

/// A channel in the stretches that were asked for; those behind its end are left out.
#[derive(Debug, Clone, PartialEq)]
pub enum Lane {
    /// Bit 0: it was low, bit 1: it was high; a byte for each stretch.
    Digital(Vec<u8>),
    /// Lowest and highest value of each stretch, in the channel's unit.
    Analog { min: Vec<f32>, max: Vec<f32> },
}

/// What `channels` do in `stretches` of `1 << level` samples each. Blocks on the disk.
///
/// # Errors
/// A file is damaged, or there is no such channel.
pub fn tiles(
    reader: &Reader,
    channels: &[usize],
    level: u32,
    stretches: &Range<u64>,
) -> Result<Vec<Lane>, ReadError> {
    let mut numbers = Vec::new();
    for &channel in channels {
        numbers.push(reader.logic_number(channel)?);
    }
    let logic: Vec<usize> = numbers.iter().copied().flatten().collect();
    let mut digital = match logic.is_empty() {
        true => Vec::new(),
        false => {
            let pyramid = reader.logic_pyramid()?;
            let segment = reader.logic()?;
            logic_stretches(&segment, pyramid.as_ref(), &logic, level, stretches.clone())?
        }
    }
    .into_iter();
    let mut lanes = Vec::with_capacity(channels.len());
    for (&channel, number) in channels.iter().zip(numbers) {
        lanes.push(match number.and_then(|_| digital.next()) {
            Some(states) => Lane::Digital(states),
            None => analog(reader, channel, level, stretches.clone())?,
        });
    }
    Ok(lanes)
}

fn analog(
    reader: &Reader,
    channel: usize,
    level: u32,
    stretches: Range<u64>,
) -> Result<Lane, ReadError> {
    let record = &reader.record().channels[channel];
    let pyramid = reader.analog_pyramid()?;
    let segment = reader.analog()?;
    let found = analog_stretches(&segment, pyramid.as_ref(), level, stretches);
    let (low, high) = found.map_err(ReadError::Analog)?;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "16-bit counts need no more than f32 has"
    )]
    let value = |count: u16| record.value(count) as f32;
    // An inverting front end turns high counts into low values.
    let pairs = low.into_iter().zip(high).map(|(a, b)| (value(a), value(b)));
    let (min, max) = pairs.map(|(a, b)| (a.min(b), a.max(b))).unzip();
    Ok(Lane::Analog { min, max })
}
