//! A capture, reduced to what a small picture shows.

use evidence::result::{Capture as Picture, Channel, Signal};
use lab::captures::layout::frames;
use lab::captures::reader::{Data, ReadError, Reader};
use pipeline::plan::Capture;
use store::captures::ChannelRecord;

/// Columns that a picture tells apart.
const COLUMNS: u64 = 600;

/// The picture of a capture with the names that the pipeline gave its channels; none if it cannot be read.
pub(crate) fn of(reader: &Reader, capture: &Capture) -> Option<Picture> {
    let record = reader.record();
    let first = record.channels.first()?;
    let channels = record.channels.iter().enumerate();
    let channels: Result<Vec<Channel>, ReadError> = channels
        .map(|(index, channel)| {
            let signal = match channel.la {
                Some(_) => digital(reader, index, channel),
                None => analog(reader, index, channel),
            };
            Ok(Channel {
                name: name(channel, capture),
                signal: signal?,
            })
        })
        .collect();
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a picture's length in microseconds need not be exact"
    )]
    let duration_us = (first.samples as f64 / first.sample_rate_hz.max(1e-3) * 1e6) as u64;
    Some(Picture {
        name: record.id.clone(),
        duration_us,
        channels: channels.ok()?,
    })
}

fn name(channel: &ChannelRecord, capture: &Capture) -> String {
    let mut names = capture.channels.iter();
    let given = names.find(|(_, number)| channel.la.map(u64::from) == Some(**number));
    given.map_or_else(|| channel.name.clone(), |(name, _)| name.clone())
}

/// The column of a sample.
fn column(sample: u64, samples: u64) -> u64 {
    sample.saturating_mul(COLUMNS) / samples.max(1)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "parts of a picture's width need not be exact"
)]
fn part(sample: u64, samples: u64) -> f32 {
    sample as f32 / samples.max(1) as f32
}

/// The level at the beginning, and when it changed: at most twice in a column, so that the level after it is right.
fn digital(reader: &Reader, index: usize, channel: &ChannelRecord) -> Result<Signal, ReadError> {
    let samples = channel.samples;
    let mut first = None;
    let mut changes: Vec<u64> = Vec::new();
    let mut at = 0;
    let all = reader.samples();
    for span in frames(&all, 0).filter(|span| span.channel == index) {
        let Data::Runs { level, runs } = reader.frame(span)? else {
            continue;
        };
        // A frame begins with the level that the one before it ended with, or with the other one.
        let before = first.map(|first: bool| first ^ (changes.len() % 2 == 1));
        first = first.or(Some(level != 0));
        if before.is_some_and(|before| before != (level != 0)) {
            push(&mut changes, at, samples);
        }
        for (number, run) in runs.iter().enumerate() {
            if number > 0 {
                push(&mut changes, at, samples);
            }
            at += u64::from(*run);
        }
    }
    let changes = changes.into_iter().map(|at| part(at, samples)).collect();
    Ok(Signal::Digital(first.unwrap_or_default(), changes))
}

fn push(changes: &mut Vec<u64>, at: u64, samples: u64) {
    let here = column(at, samples);
    let in_column = changes.iter().rev().take(2);
    let in_column = in_column.filter(|other| column(**other, samples) == here);
    if in_column.count() == 2 {
        // A third one leaves the level as the first one did.
        changes.pop();
    } else {
        changes.push(at);
    }
}

/// Lowest and highest level of each column.
fn analog(reader: &Reader, index: usize, channel: &ChannelRecord) -> Result<Signal, ReadError> {
    let mut columns: Vec<(f32, f32)> = Vec::new();
    let mut at = 0;
    let all = reader.samples();
    for span in frames(&all, 0).filter(|span| span.channel == index) {
        let Data::Counts(counts) = reader.frame(span)? else {
            continue;
        };
        for count in counts.chunks_exact(2) {
            let count = f64::from(u16::from_le_bytes([count[0], count[1]]));
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a picture's level need not be exact"
            )]
            let level = (channel.offset + count * channel.full_scale / 65_536.0) as f32;
            let here = usize::try_from(column(at, channel.samples)).unwrap_or(usize::MAX);
            match columns.get_mut(here) {
                Some((low, high)) => (*low, *high) = (low.min(level), high.max(level)),
                None => columns.push((level, level)),
            }
            at += 1;
        }
    }
    Ok(Signal::Analog(columns, channel.unit.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_changes_in_a_column_leave_the_last_level() {
        for count in 0..7_u64 {
            let mut changes = Vec::new();
            for at in 0..count {
                push(&mut changes, at, 1_000_000);
            }
            assert!(changes.len() <= 2);
            assert_eq!(changes.len() as u64 % 2, count % 2);
        }
        let mut changes = Vec::new();
        for at in [0, 500, 999] {
            push(&mut changes, at, 1000);
        }
        assert_eq!(changes, [0, 500, 999]);
    }
}
