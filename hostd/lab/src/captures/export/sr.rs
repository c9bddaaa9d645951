//! sigrok session files: what sigrok-cli and PulseView open.
//!
//! A session has one sample rate. Of a capture with logic and analog channels it is the faster of the two, and each sample
//! of the slower is repeated up to the next.

use std::io::Write;

use decode::sr::{Layout, Writer};

use super::super::reader::Reader;
use super::cut::Cut;
use super::timeline::{Rate, Timing};
use super::{CHUNK_SAMPLES, ExportError, raw, whole_rate};
use store::captures::ChannelRecord;

/// Samples of one channel in a file with both kinds: repeating them costs time, though hardly any bytes.
const BOTH_SAMPLES_MAX: u64 = 1 << 32;

/// The file's rate, in whole hertz.
///
/// # Errors
/// There is none near the capture's, or it makes too many samples of the slower channels.
pub(super) fn check(cut: &Cut) -> Result<u64, ExportError> {
    let channels = cut.channels();
    let (timing, to) = timing(&channels);
    let samples = channels.iter().map(|channel| {
        let rate = timing.rate(channel.sample_rate_hz);
        rate.place(channel.samples, to)
    });
    let samples = samples.max().unwrap_or(0);
    let max = BOTH_SAMPLES_MAX;
    if cut.has_logic() && cut.has_analog() && samples > max {
        return Err(ExportError::Uneven { samples, max });
    }
    whole_rate(fastest(&channels))
}

pub(super) fn write(reader: &Reader, cut: &Cut, out: &mut dyn Write) -> Result<(), ExportError> {
    let channels = cut.channels();
    let names = |is_logic: bool| -> Vec<&str> {
        let kind = channels.iter().filter(|c| c.la.is_some() == is_logic);
        kind.map(|c| c.name.as_str()).collect()
    };
    let (logic, analog) = (names(true), names(false));
    let mut writer = Writer::with_layout(&Layout {
        sample_rate_hz: check(cut)?,
        logic: &logic,
        unit_size: raw::unit_bytes(logic.len()),
        analog: &analog,
    });
    let (timing, to) = timing(&channels);
    if let Some(channel) = channels.iter().find(|c| c.la.is_some()) {
        let rate = timing.rate(channel.sample_rate_hz);
        raw::logic_at(
            reader,
            cut,
            |sample| rate.place(sample, to),
            |bytes| {
                writer.add(bytes);
                Ok(out.write_all(&writer.take())?)
            },
        )?;
    }
    if let Some(channel) = channels.iter().find(|c| c.la.is_none()) {
        let rate = timing.rate(channel.sample_rate_hz);
        write_analog(
            reader,
            cut,
            channel,
            |sample| rate.place(sample, to),
            |values| {
                writer.add_analog(0, values);
                Ok(out.write_all(&writer.take())?)
            },
        )?;
    }
    out.write_all(&writer.finish())?;
    Ok(())
}

/// Shows all analog samples to `take`, each from its place in the file up to the place of the next.
fn write_analog(
    reader: &Reader,
    cut: &Cut,
    channel: &ChannelRecord,
    place: impl Fn(u64) -> u64,
    mut take: impl FnMut(&[f32]) -> Result<(), ExportError>,
) -> Result<(), ExportError> {
    let mut values = Vec::new();
    let (mut sample, mut at) = (0, 0);
    raw::analog(reader, cut, |counts| {
        for count in counts {
            sample += 1;
            let until = place(sample);
            while at < until {
                let room = CHUNK_SAMPLES - values.len();
                let now = usize::try_from(until - at).unwrap_or(room).min(room);
                values.resize(values.len() + now, value(channel, *count));
                at += now as u64;
                if values.len() == CHUNK_SAMPLES {
                    take(&values)?;
                    values.clear();
                }
            }
        }
        Ok(())
    })?;
    match values.is_empty() {
        true => Ok(()),
        false => take(&values),
    }
}

/// What the rates of the channels mean, and that of the fastest.
fn timing(channels: &[&ChannelRecord]) -> (Timing, Rate) {
    let rates: Vec<f64> = channels.iter().map(|c| c.sample_rate_hz).collect();
    let timing = Timing::of(&rates);
    (timing, timing.rate(fastest(channels)))
}

fn fastest(channels: &[&ChannelRecord]) -> f64 {
    let rates = channels.iter().map(|channel| channel.sample_rate_hz);
    rates.fold(0.0, f64::max)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the format has single precision"
)]
fn value(channel: &ChannelRecord, count: u16) -> f32 {
    channel.value(count) as f32
}
