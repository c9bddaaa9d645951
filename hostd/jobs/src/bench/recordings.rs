//! Captures of a run: those that go on in the background, and those that were kept.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use pipeline::plan::{Capture, Step};

use super::{Bench, BenchError, Recording, Taken, Until};
use crate::cancel::Cancel;
use crate::outcome::Outcome;
use crate::results::{CaptureEnd, Span};
use crate::script;
use crate::step::Deadline;

/// All captures of a run, by the index of their step.
#[derive(Default)]
pub(super) struct Recordings<'p>(BTreeMap<usize, Entry<'p>>);

struct Entry<'p> {
    step: &'p Step,
    capture: &'p Capture,
    /// From the job's begin.
    start: Duration,
    stage: Stage,
}

enum Stage {
    Running(Box<dyn Recording>, Deadline),
    Kept(CaptureEnd),
    /// It came to nothing, which is told as often as somebody asks.
    Spoilt(Outcome),
}

impl<'p> Recordings<'p> {
    /// Starts to record for a step.
    pub(super) fn start(
        &mut self,
        bench: &dyn Bench,
        (index, step, capture): (usize, &'p Step, &'p Capture),
        deadline: Deadline,
        begun: Instant,
        cancel: &Cancel,
    ) -> Result<(), Outcome> {
        let start = begun.elapsed();
        let until = deadline.until(cancel);
        let recording = bench.capture(&script::name(step), capture, &until);
        let recording = recording.map_err(|error| error.outcome(deadline))?;
        let entry = Entry {
            step,
            capture,
            start,
            stage: Stage::Running(recording, deadline),
        };
        self.0.insert(index, entry);
        Ok(())
    }

    /// The step that has this id.
    pub(super) fn find(&self, id: &str) -> Option<usize> {
        let mut entries = self.0.iter();
        let found = entries.find(|(_, entry)| entry.step.id.as_deref() == Some(id));
        found.map(|(index, _)| *index)
    }

    /// Steps whose captures go on.
    pub(super) fn running(&self) -> Vec<usize> {
        let running = self.0.iter();
        let running = running.filter(|(_, entry)| matches!(entry.stage, Stage::Running(..)));
        running.map(|(index, _)| *index).collect()
    }

    /// Waits for a step's capture, at most until `deadline`.
    pub(super) fn collect(
        &mut self,
        index: usize,
        deadline: Deadline,
        begun: Instant,
        cancel: &Cancel,
    ) -> Result<(&'p Capture, CaptureEnd), Outcome> {
        let Some(entry) = self.0.get_mut(&index) else {
            return Err(Outcome::Cancelled);
        };
        let (recording, own) = match &mut entry.stage {
            Stage::Kept(kept) => return Ok((entry.capture, kept.clone())),
            Stage::Spoilt(outcome) => return Err(outcome.clone()),
            Stage::Running(recording, own) => (recording, *own),
        };
        let (id, picture, warnings) = match recording.wait(&deadline.min(own).until(cancel)) {
            Ok(Taken {
                id,
                picture,
                warnings,
            }) => (id, picture, warnings),
            // Who waits has less time than the capture.
            Err(BenchError::TimedOut) if deadline < own => return Err(deadline.passed()),
            Err(error) => {
                let outcome = error.outcome(own);
                entry.stage = Stage::Spoilt(outcome.clone());
                return Err(outcome);
            }
        };
        let time = Span {
            start: entry.start,
            end: begun.elapsed(),
        };
        let kept = CaptureEnd {
            id,
            name: script::name(entry.step),
            time,
            picture,
            warnings,
        };
        entry.stage = Stage::Kept(kept.clone());
        Ok((entry.capture, kept))
    }

    /// What was kept, with the index of its step.
    pub(super) fn kept(&self) -> impl Iterator<Item = (usize, &CaptureEnd)> {
        self.0
            .iter()
            .filter_map(|(index, entry)| match &entry.stage {
                Stage::Kept(kept) => Some((*index, kept)),
                _ => None,
            })
    }

    /// Ends what still goes on, and keeps nothing of it.
    pub(super) fn abandon(&mut self) {
        self.0
            .retain(|_, entry| !matches!(entry.stage, Stage::Running(..)));
    }
}

impl Deadline {
    pub(super) fn until<'u>(&self, cancel: &'u Cancel) -> Until<'u> {
        Until {
            at: self.at,
            cancel,
        }
    }
}
