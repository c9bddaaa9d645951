//! A capture whose trigger a decoder sees, in samples that come while they are taken: what lies before it is kept meanwhile, and
//! what follows belongs to the capture.

use std::collections::VecDeque;

use decode::{DecodeError, StreamDecoder};
use pods::{CaptureStream, Frame};

use super::plan::Awaited;
use super::seek::{self, Seeker};
use super::task::TaskError;

/// Samples that are kept beyond those before the trigger: it lies so far back when it is seen, if the bus goes on.
const BACK: u64 = 65_536;

/// The frames of such a capture, numbered from its first sample.
pub(super) struct Hunted {
    stream: CaptureStream,
    hunt: Hunt,
    ready: VecDeque<Frame>,
}

/// What is known of the samples that came.
struct Hunt {
    awaited: Awaited,
    decoder: StreamDecoder,
    seeker: Seeker,
    /// Samples that came, and how many may before it is given up.
    upto: u64,
    give_up: u64,
    /// Changes that may belong to the capture, and the word before the first of them.
    kept: VecDeque<(u64, u16)>,
    word: u16,
    /// The first sample of which all changes are kept.
    kept_from: u64,
    found: Option<Found>,
    /// Samples of the capture that were lost.
    gaps: Vec<(u64, u64)>,
}

/// Where the capture lies in the samples that came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Found {
    first: u64,
    end: u64,
    trigger: u64,
    /// Samples that had come behind the trigger when it was seen.
    after: u64,
    /// Samples of the capture that are frames already.
    framed: u64,
}

impl Hunted {
    /// Looks in the samples of a stream.
    ///
    /// # Errors
    /// The rate is too low for the bus.
    pub(super) fn new(stream: CaptureStream, awaited: Awaited) -> Result<Self, TaskError> {
        let rate_hz = stream.la_rate_hz().unwrap_or(1.0);
        Ok(Self {
            hunt: Hunt::new(awaited, rate_hz)?,
            stream,
            ready: VecDeque::new(),
        })
    }

    /// The next frame of the capture; none at its end.
    pub(super) async fn next(&mut self) -> Option<Result<Frame, TaskError>> {
        loop {
            if let Some(frame) = self.ready.pop_front() {
                return Some(Ok(frame));
            }
            if self.hunt.is_over() {
                return None;
            }
            let (edges, upto) = match self.stream.next().await {
                Some(Ok(Frame::La { edges, upto })) => (edges, upto),
                Some(Ok(Frame::Adc { .. })) => continue,
                Some(Err(error)) => return Some(Err(error.into())),
                None if self.hunt.found.is_none() => return Some(Err(self.hunt.gone_by())),
                None => return None,
            };
            match self.hunt.take(&edges, upto, self.stream.gaps()) {
                Ok(frame) => self.ready.extend(frame),
                Err(error) => return Some(Err(error)),
            }
        }
    }

    pub(super) fn la_rate_hz(&self) -> Option<f64> {
        self.stream.la_rate_hz()
    }

    /// Logic samples of the capture: fewer than asked for if the trigger came early.
    pub(super) fn samples(&self) -> u64 {
        match self.hunt.found {
            Some(found) => found.end - found.first,
            None => self.hunt.awaited.samples,
        }
    }

    /// Samples of the capture that were lost.
    pub(super) fn gaps(&self) -> &[(u64, u64)] {
        &self.hunt.gaps
    }

    /// The sample of the trigger, and how many more had come when it was seen.
    pub(super) fn trigger(&self) -> Option<(u64, u64)> {
        let found = self.hunt.found?;
        Some((found.trigger - found.first, found.after))
    }
}

impl Hunt {
    fn new(awaited: Awaited, rate_hz: f64) -> Result<Self, TaskError> {
        let failed = |error: DecodeError| TaskError::Hunt(error.to_string());
        let spec = seek::spec(&awaited.bus).map_err(|error| TaskError::Hunt(error.to_string()))?;
        let seeker = Seeker::new(&awaited.bus, &spec);
        Ok(Self {
            decoder: StreamDecoder::new(spec, rate_hz).map_err(failed)?,
            seeker,
            upto: 0,
            give_up: awaited.wait_samples(rate_hz),
            kept: VecDeque::new(),
            word: 0,
            kept_from: 0,
            found: None,
            gaps: Vec::new(),
            awaited,
        })
    }

    fn is_over(&self) -> bool {
        self.found.is_some_and(|found| found.end <= self.upto)
    }

    /// The wait is over.
    fn gone_by(&self) -> TaskError {
        TaskError::NoTrigger(format!(
            "trigger timeout: no {} within {} ms",
            self.awaited.bus, self.awaited.timeout_ms
        ))
    }

    /// Takes the samples before `upto`; the frame that they make of the capture.
    fn take(
        &mut self,
        edges: &[(u64, u16)],
        upto: u64,
        gaps: &[(u64, u64)],
    ) -> Result<Option<Frame>, TaskError> {
        let is_lost = gaps.last().is_some_and(|(_, to)| *to == upto) && self.upto < upto;
        if self.found.is_none() {
            self.seek(edges, upto, is_lost)?;
        }
        self.kept.extend(edges);
        self.upto = upto;
        let Some(found) = self.found else {
            self.forget();
            return match self.give_up <= upto {
                true => Err(self.gone_by()),
                false => Ok(None),
            };
        };
        self.gaps = within(gaps, found);
        Ok(self.frame(found))
    }

    /// Looks for the trigger in some samples.
    fn seek(&mut self, edges: &[(u64, u16)], upto: u64, is_lost: bool) -> Result<(), TaskError> {
        let mut notes = Vec::new();
        if is_lost {
            // It says what it held back of the samples before.
            let lost = self.decoder.lose(upto, &mut notes);
            lost.map_err(|error| TaskError::Hunt(error.to_string()))?;
        } else {
            let edges: Vec<(u64, u64)> = edges
                .iter()
                .map(|&(sample, word)| (sample, word.into()))
                .collect();
            self.decoder.feed(&edges, upto, &mut notes);
        }
        let kept = self.kept_from..=self.give_up;
        let seen = notes.iter().filter_map(|note| self.seeker.see(note));
        let seen = { seen }.find(|trigger| kept.contains(trigger));
        if is_lost {
            self.seeker.lose();
        }
        if let Some(trigger) = seen {
            let Awaited {
                samples,
                pre_samples,
                ..
            } = self.awaited;
            let first = trigger.saturating_sub(pre_samples).max(self.kept_from);
            self.found = Some(Found {
                first,
                end: trigger + (samples - pre_samples),
                trigger,
                after: upto.saturating_sub(trigger),
                framed: 0,
            });
        }
        Ok(())
    }

    /// Forgets what lies too far back.
    fn forget(&mut self) {
        let back = self.awaited.pre_samples + BACK;
        let said = self.upto.min(self.decoder.said());
        self.kept_from = self.kept_from.max(said.saturating_sub(back));
        while let Some((_, word)) = self
            .kept
            .pop_front_if(|(sample, _)| *sample <= self.kept_from)
        {
            self.word = word;
        }
    }

    /// What was kept, as a frame of the capture.
    fn frame(&mut self, found: Found) -> Option<Frame> {
        let upto = self.upto.min(found.end);
        if upto <= found.first + found.framed {
            return None;
        }
        while let Some((_, word)) = self
            .kept
            .pop_front_if(|(sample, _)| *sample <= found.first + found.framed)
        {
            self.word = word;
        }
        let mut edges = Vec::with_capacity(self.kept.len() + 1);
        // Of each frame the first word: those that change nothing are left out by who stores them.
        edges.push((found.framed, self.word));
        while let Some((sample, word)) = self.kept.pop_front_if(|(sample, _)| *sample < upto) {
            edges.push((sample - found.first, word));
            self.word = word;
        }
        let framed = upto - found.first;
        self.found = Some(Found { framed, ..found });
        Some(Frame::La {
            edges,
            upto: framed,
        })
    }
}

/// What of some gaps is in the capture, counted from its first sample.
fn within(gaps: &[(u64, u64)], found: Found) -> Vec<(u64, u64)> {
    let cut = |&(from, to): &(u64, u64)| {
        let (from, to) = (from.max(found.first), to.min(found.end));
        (from < to).then(|| (from - found.first, to - found.first))
    };
    gaps.iter().filter_map(cut).collect()
}

#[cfg(test)]
mod tests;
