//! sigrok session files: what sigrok-cli and PulseView open.

use std::io::Write;

use decode::sr::{Layout, Writer};

use super::super::reader::Reader;
use super::{Content, ExportError, raw};
use store::captures::ChannelRecord;

pub(super) fn write(
    reader: &Reader,
    content: Content,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let channels = reader.channels_of(content);
    let names: Vec<&str> = channels.iter().map(|c| c.name.as_str()).collect();
    let rate = channels.first().map_or(1.0, |c| c.sample_rate_hz);
    if content == Content::Analog {
        let mut writer = Writer::with_layout(&Layout {
            sample_rate_hz: whole(rate),
            logic: &[],
            unit_size: 1,
            analog: &names,
        });
        let channel = channels[0];
        raw::analog(reader, |counts| {
            let values: Vec<f32> = counts.iter().map(|c| value(channel, *c)).collect();
            writer.add_analog(0, &values);
            Ok(out.write_all(&writer.take())?)
        })?;
        out.write_all(&writer.finish())?;
        return Ok(());
    }
    let mut writer = Writer::with_layout(&Layout {
        sample_rate_hz: whole(rate),
        logic: &names,
        unit_size: raw::unit_bytes(names.len()),
        analog: &[],
    });
    raw::logic(reader, |bytes| {
        writer.add(bytes);
        Ok(out.write_all(&writer.take())?)
    })?;
    out.write_all(&writer.finish())?;
    Ok(())
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the format has single precision"
)]
fn value(channel: &ChannelRecord, count: u16) -> f32 {
    channel.value(count) as f32
}

/// The format has only whole hertz.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rates are positive and far below 2^63"
)]
fn whole(rate_hz: f64) -> u64 {
    rate_hz.round().max(1.0) as u64
}
