//! A decoding of the captures that a follower gets, while they arrive: the same annotations as afterwards.

use std::collections::VecDeque;

use decode::{Annotation, Format, Spec, StreamDecoder};
use pods::protocol::LA_CHANNELS;
use serde_json::{Value, json};

use super::super::framer::Frame;
use super::super::reader::Data;
use crate::captures::Captures;
use crate::decoders::{NoSpec, Wanted};
use store::captures::CaptureRecord;

/// Why a decoder of a plugin does not do.
const NOT_HERE: &str = "decoders of plugins take whole captures: decode it once it is done";

/// Most annotations of one message.
const NOTES_MAX: usize = 1000;

/// What a follower wants to be decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Organisation of the follower.
    pub org: String,
    /// A decoder of ours.
    pub protocol: String,
    /// Roles and channels.
    pub map: Vec<(String, String)>,
    /// Names and values.
    pub options: Vec<(String, String)>,
    /// Classes or rows to keep.
    pub annotations: Option<String>,
    /// Whether frames are sent, too.
    pub has_frames: bool,
}

impl Job {
    /// The job for a capture with these logic channels, of which some may be called otherwise.
    ///
    /// # Errors
    /// Something of it is unknown or cannot be.
    pub(super) fn spec(
        &self,
        captures: &Captures,
        names: &[String],
        meant: &dyn Fn(&str) -> String,
    ) -> Result<Spec, NoSpec> {
        let map = self.map.iter();
        let map: Vec<(&str, String)> = map.map(|(role, of)| (role.as_str(), meant(of))).collect();
        let map: Vec<(&str, &str)> = map.iter().map(|(role, of)| (*role, of.as_str())).collect();
        let options = self.options.iter();
        let options: Vec<(&str, &str)> = options
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        let wanted = Wanted {
            protocol: &self.protocol,
            map: &map,
            options: &options,
            annotations: self.annotations.as_deref(),
        };
        captures.decoders().spec(&self.org, wanted, names)
    }

    /// Whether it can be at all: on a capture of all channels of a pod, by a decoder of ours.
    ///
    /// # Errors
    /// Likewise.
    pub fn check(&self, captures: &Captures) -> Result<(), NoSpec> {
        let names: Vec<String> = (1..=LA_CHANNELS).map(|la| format!("LA{la}")).collect();
        let spec = self.spec(captures, &names, &str::to_owned)?;
        match spec.is_foreign() {
            false => Ok(()),
            true => Err(NoSpec::Absent(NOT_HERE.to_owned())),
        }
    }
}

/// One capture that is decoded.
pub(super) struct Decoding {
    capture: String,
    decoder: StreamDecoder,
    /// By channel of the capture: its bit in a word of the logic channels.
    bits: Vec<Option<u32>>,
    /// Channels that the decoder looks at.
    needed: u64,
    /// Where the next block begins, and what came of it.
    at: u64,
    came: u64,
    end: u64,
    word: u64,
    toggles: Vec<(u64, u64)>,
    /// Samples that were lost, of which frames are still to come.
    gaps: VecDeque<(u64, u64)>,
}

/// What a decoding says.
pub(super) struct Said {
    events: Vec<String>,
}

impl Decoding {
    /// Of a capture whose samples are still to come.
    ///
    /// # Errors
    /// Why it cannot be, in a sentence.
    pub(super) fn begin(
        job: &Job,
        captures: &Captures,
        record: &CaptureRecord,
    ) -> Result<Self, String> {
        let mut bits = Vec::new();
        let mut names = Vec::new();
        for channel in &record.channels {
            let bit = u32::try_from(names.len()).ok();
            bits.push(channel.la.and(bit));
            if channel.la.is_some() {
                names.push(channel.name.clone());
            }
        }
        let rate_hz = record.channels.iter().find(|channel| channel.la.is_some());
        let rate_hz = rate_hz.map(|channel| channel.sample_rate_hz);
        let rate_hz = rate_hz.ok_or("the capture has no logic channels")?;
        let spec = job.spec(captures, &names, &|text| record.meant(text));
        let spec = spec.map_err(|refused| match refused {
            NoSpec::Invalid(error) => format!("failed to {error}"),
            NoSpec::NotGranted(sentence)
            | NoSpec::Absent(sentence)
            | NoSpec::Engine(_, sentence) => sentence,
        })?;
        let decoder = StreamDecoder::new(spec, rate_hz);
        let decoder = decoder.map_err(|error| format!("failed to {error}"))?;
        let needed = decoder.channels();
        Ok(Self {
            capture: record.id.clone(),
            needed: needed.fold(0, |needed, channel| needed | 1 << channel),
            decoder,
            bits,
            at: 0,
            came: 0,
            end: 0,
            word: 0,
            toggles: Vec::new(),
            gaps: record.gaps.iter().copied().collect(),
        })
    }

    pub(super) fn is_of(&self, capture: &str) -> bool {
        self.capture == capture
    }

    /// Whether no samples came yet.
    pub(super) fn is_new(&self) -> bool {
        self.at == 0 && self.came == 0
    }

    /// Samples were lost, whose frames are still to come.
    pub(super) fn lose(&mut self, from: u64, to: u64) {
        self.gaps.push_back((from, to));
    }

    /// Takes a frame; none if it is not the next one.
    pub(super) fn take(&mut self, frame: &Frame) -> Option<Said> {
        let mut said = Said { events: Vec::new() };
        let span = frame.span;
        let bit = self.bits.get(span.channel).copied().flatten();
        let (Some(bit), Data::Runs { level, runs }) = (bit, &frame.data) else {
            return Some(said);
        };
        if self.needed >> bit & 1 == 0 {
            return Some(said);
        }
        if span.start_sample != self.at || self.came >> bit & 1 == 1 {
            return None;
        }
        self.came |= 1 << bit;
        self.end = span.start_sample + span.count;
        let mask = 1 << bit;
        if u64::from(*level) != self.word >> bit & 1 {
            self.toggles.push((self.at, mask));
        }
        let mut at = self.at;
        for run in &runs[..runs.len().saturating_sub(1)] {
            at += u64::from(*run);
            self.toggles.push((at, mask));
        }
        if self.came == self.needed {
            self.block(&mut said);
        }
        Some(said)
    }

    /// All that is needed of a block is there.
    fn block(&mut self, said: &mut Said) {
        self.toggles.sort_unstable();
        let mut edges: Vec<(u64, u64)> = Vec::with_capacity(self.toggles.len() + 1);
        if self.at == 0 {
            edges.push((0, self.word));
        }
        for (sample, mask) in std::mem::take(&mut self.toggles) {
            self.word ^= mask;
            match edges.last_mut().filter(|(last, _)| *last == sample) {
                Some((_, word)) => *word = self.word,
                None => edges.push((sample, self.word)),
            }
        }
        let mut notes = Vec::new();
        while self.at < self.end {
            if let Some((from, to)) = self.gaps.front().copied()
                && from <= self.at
            {
                let upto = to.min(self.end);
                if self.at < upto {
                    // The spec was one before, and is still.
                    let _ = self.decoder.lose(upto, &mut notes);
                    said.notes(self.decoder.spec(), &notes);
                    notes.clear();
                    if from == self.at {
                        said.lost(from, to);
                    }
                    self.at = upto;
                }
                if self.end < to {
                    break;
                }
                self.gaps.pop_front();
                continue;
            }
            let next = self.gaps.front().map_or(self.end, |(from, _)| *from);
            let upto = next.min(self.end);
            let from = edges.partition_point(|(sample, _)| *sample < self.at);
            self.decoder.feed(&edges[from..], upto, &mut notes);
            self.at = upto;
        }
        said.notes(self.decoder.spec(), &notes);
        (self.at, self.came) = (self.end, 0);
    }

    /// The capture is over.
    pub(super) fn finish(self) -> (u64, Said) {
        let mut said = Said { events: Vec::new() };
        let (spec, upto) = (self.decoder.spec().clone(), self.decoder.samples());
        let mut notes = Vec::new();
        self.decoder.finish(&mut notes);
        said.notes(&spec, &notes);
        (upto, said)
    }

    /// Samples that were decoded.
    pub(super) fn upto(&self) -> u64 {
        self.at
    }
}

impl Said {
    fn notes(&mut self, spec: &Spec, notes: &[Annotation]) {
        let mut lines = Vec::new();
        Format::Json
            .write(spec, notes, &mut lines)
            .expect("writing to memory never fails");
        self.lines(&lines);
    }

    fn lost(&mut self, from: u64, to: u64) {
        let mut lines = Vec::new();
        Format::Json
            .write_lost(&(from..to), &mut lines)
            .expect("writing to memory never fails");
        self.lines(&lines);
    }

    fn lines(&mut self, lines: &[u8]) {
        let text = String::from_utf8_lossy(lines);
        self.events.extend(text.lines().map(str::to_owned));
    }

    /// As messages: what was said of samples before `upto`.
    pub(super) fn messages(&self, capture: &str, upto: u64) -> Vec<String> {
        let message = |events: &[String]| {
            let head = json!({"type": "annotations", "capture_id": capture, "upto": upto});
            let head = head.to_string();
            let head = head.trim_end_matches('}');
            format!("{head},\"events\":[{}]}}", events.join(","))
        };
        self.events.chunks(NOTES_MAX).map(message).collect()
    }
}

/// Why there are no annotations of a capture.
pub(super) fn failed(capture: &str, why: &str) -> Value {
    json!({"type": "annotations.error", "capture_id": capture, "error": why})
}
