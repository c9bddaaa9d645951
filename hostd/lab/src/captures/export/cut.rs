//! What of a capture becomes a file: some of its channels, from one time to another.

use std::ops::Range;

use decode::find_channel;
use decode::segment::Edges;

use super::super::reader::Reader;
use super::timeline::{Timing, float, whole};
use super::{Content, ExportError};
use store::captures::{CaptureRecord, ChannelRecord};

/// What a caller asks for; all that the format can hold when it says nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    /// One kind of channels.
    pub content: Option<Content>,
    /// Channels by their names, in the order of the file; all when it is empty.
    pub channels: Vec<String>,
    /// First sample of the file and the one behind the last, of its logic channels or, where it has none, of the analog one;
    /// the other kind is cut at the same times.
    pub from: Option<u64>,
    /// See `from`.
    pub to: Option<u64>,
}

/// Where to cut a capture.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cut {
    /// The channels of the file, logic ones first, with the samples that they have in it.
    channels: Vec<ChannelRecord>,
    /// Bits of the logic channels in the capture.
    bits: Vec<usize>,
    logic: Range<u64>,
    analog: Range<u64>,
}

/// The chosen channels of a capture; an index for each in its record.
pub(super) fn chosen(reader: &Reader, names: &[String]) -> Result<Vec<usize>, ExportError> {
    let channels = &reader.record().channels;
    if names.is_empty() {
        return Ok((0..channels.len()).collect());
    }
    let known: Vec<String> = channels.iter().map(|c| c.name.clone()).collect();
    let mut chosen = Vec::new();
    for name in names {
        let meant = reader.record().meant(name);
        let channel = find_channel(&meant, &known).map_err(ExportError::Channel)?;
        if !chosen.contains(&channel) {
            chosen.push(channel);
        }
    }
    Ok(chosen)
}

/// A channel with the name that people see in a file.
fn named(reader: &Reader, channel: usize) -> ChannelRecord {
    let record = reader.record();
    ChannelRecord {
        name: record.shown(channel).to_owned(),
        ..record.channels[channel].clone()
    }
}

impl Cut {
    /// Of the `chosen` channels those of a kind, in the range that was asked for.
    pub(super) fn new(
        reader: &Reader,
        chosen: &[usize],
        content: Content,
        asked: &Asked,
    ) -> Result<Self, ExportError> {
        let all = &reader.record().channels;
        let bit = |channel: usize| all[..channel].iter().filter(|c| c.la.is_some()).count();
        let logic = chosen.iter().copied();
        let logic = logic.filter(|c| all[*c].la.is_some() && content != Content::Analog);
        let logic: Vec<usize> = logic.collect();
        let analog = chosen.iter().copied();
        let mut analog = analog.filter(|c| all[*c].la.is_none() && content != Content::Logic);
        let analog = analog.next();
        let main = logic.first().copied().or(analog);
        let main = &all[main.ok_or(ExportError::Lacks("chosen"))?];
        let range = asked.from.unwrap_or(0)..asked.to.unwrap_or(main.samples);
        if range.start >= range.end || range.end > main.samples {
            let samples = main.samples;
            return Err(ExportError::Range { samples });
        }
        let is_whole = range == (0..main.samples);
        let mut cut = Self {
            channels: logic.iter().map(|c| named(reader, *c)).collect(),
            bits: logic.iter().map(|c| bit(*c)).collect(),
            logic: if logic.is_empty() {
                0..0
            } else {
                range.clone()
            },
            analog: 0..0,
        };
        if let Some(channel) = analog.map(|c| named(reader, c)) {
            let timing = Timing::of(&[main.sample_rate_hz, channel.sample_rate_hz]);
            let (of, rate) = (
                timing.rate(main.sample_rate_hz),
                timing.rate(channel.sample_rate_hz),
            );
            let place = |sample| of.place(sample, rate).min(channel.samples);
            cut.analog = match is_whole {
                true => 0..channel.samples,
                false => place(range.start)..place(range.end),
            };
            cut.channels.push(channel);
        }
        let (logic, analog) = (cut.logic.clone(), cut.analog.clone());
        for channel in &mut cut.channels {
            let range = if channel.la.is_some() {
                &logic
            } else {
                &analog
            };
            channel.samples = range.end - range.start;
        }
        Ok(cut)
    }

    /// The channels of the file, logic ones first, with the samples that they have in it.
    pub(super) fn channels(&self) -> Vec<&ChannelRecord> {
        self.channels.iter().collect()
    }

    pub(super) fn has_logic(&self) -> bool {
        !self.bits.is_empty()
    }

    pub(super) fn has_analog(&self) -> bool {
        !self.analog.is_empty()
    }

    /// How many logic channels there are.
    pub(super) fn width(&self) -> usize {
        self.bits.len()
    }

    pub(super) fn logic_samples(&self) -> u64 {
        self.logic.end - self.logic.start
    }

    pub(super) fn analog_samples(&self) -> u64 {
        self.analog.end - self.analog.start
    }

    /// Rate of the analog channel; 0 without one.
    pub(super) fn analog_rate_hz(&self) -> f64 {
        let analog = self.channels.iter().find(|c| c.la.is_none());
        analog.map_or(0.0, |channel| channel.sample_rate_hz)
    }

    /// Where the trigger lies in the file: a sample of its logic channels or, where it has none, of the analog one, and the
    /// same in seconds. None if it is not in the file.
    pub(super) fn trigger(&self, record: &CaptureRecord) -> Option<(u64, f64)> {
        let range = match self.has_logic() {
            true => &self.logic,
            false => &self.analog,
        };
        let rate_hz = self.channels.first()?.sample_rate_hz;
        // It counts the logic samples of a capture that has some.
        let is_counted_alike = self.has_logic() == record.channels.iter().any(|c| c.la.is_some());
        let at = match is_counted_alike {
            true => record.trigger_at()?,
            false => whole(record.trigger_s()? * rate_hz),
        };
        let at = at.checked_sub(range.start)?;
        let is_in = at <= range.end - range.start;
        is_in.then(|| (at, float(at) / rate_hz))
    }

    /// Where the analog samples are in the capture.
    pub(super) fn analog_range(&self) -> Range<u64> {
        self.analog.clone()
    }

    /// Levels at the first sample, in the order of the channels.
    pub(super) fn first_levels(&self, reader: &Reader) -> Result<u64, ExportError> {
        let segment = reader.logic()?;
        let mut levels = 0;
        for (place, bit) in self.bits.iter().enumerate() {
            levels |= u64::from(segment.level_at(*bit, self.logic.start)?) << place;
        }
        Ok(levels)
    }

    /// Where levels change behind the first sample, in samples of the capture, and the levels from there on.
    pub(super) fn edges<'s>(&'s self, segment: &'s decode::segment::Segment<'_>) -> Edges<'s> {
        segment.edges(&self.bits, self.logic.start + 1, self.logic.end)
    }

    /// The sample of the file that is a sample of the capture.
    pub(super) fn moved(&self, sample: u64) -> u64 {
        sample - self.logic.start
    }
}
