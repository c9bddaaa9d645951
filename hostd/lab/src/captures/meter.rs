//! Measurements on a channel of a finished capture.

use std::ops::Range;

pub use measure::{Analog, Digital, POINTS_MAX, Peak, Scale, Spectrum, Stats, Window};

use super::reader::{ReadError, Reader};
use store::captures::ChannelRecord;

/// What was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Measured {
    Digital(Digital),
    Analog(Analog),
}

/// Measure a channel in a range of samples; none if `go_on` ended it. Blocks for as long as it takes: seconds, for hundreds
/// of millions of edges.
///
/// # Errors
/// The file is damaged, or there is no such channel.
pub fn measured(
    reader: &Reader,
    channel: usize,
    range: Range<u64>,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Option<Measured>, ReadError> {
    if let Some(number) = reader.logic_number(channel)? {
        let found = measure::digital_while(&reader.logic()?, number, range, go_on)?;
        return Ok(found.map(Measured::Digital));
    }
    let scale = scale(&reader.record().channels[channel]);
    let found = measure::analog_while(&reader.analog()?, scale, range, go_on);
    Ok(found.map_err(ReadError::Analog)?.map(Measured::Analog))
}

/// The spectrum of an analog channel in a range of samples; none if `go_on` ended it. Blocks for as long as it takes.
///
/// # Errors
/// The file is damaged, or there is no such analog channel.
pub fn spectrum(
    reader: &Reader,
    channel: usize,
    range: Range<u64>,
    shape: (Window, usize),
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Option<Spectrum>, ReadError> {
    if reader.logic_number(channel)?.is_some() {
        return Err(ReadError::NoChannel);
    }
    let scale = scale(&reader.record().channels[channel]);
    let found = measure::spectrum_while(&reader.analog()?, scale, range, shape, go_on);
    found.map_err(ReadError::Analog)
}

/// What the counts of an analog channel mean.
fn scale(record: &ChannelRecord) -> Scale {
    let offset = record.value(0);
    Scale {
        offset,
        per_count: (record.value(u16::MAX) - offset) / f64::from(u16::MAX),
    }
}
