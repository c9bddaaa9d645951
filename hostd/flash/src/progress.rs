//! How far a job is.

use std::fmt;

use probe_rs::flashing::{ProgressEvent, ProgressOperation};

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Reaching the target and finding out what it is.
    Connecting,
    /// Erasing sectors.
    Erasing,
    /// Programming pages.
    Programming,
    /// Reading back.
    Verifying,
    /// Starting the firmware.
    Resetting,
}

impl Phase {
    /// The word for it in messages of the API.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Connecting => "connecting",
            Self::Erasing => "erasing",
            Self::Programming => "programming",
            Self::Verifying => "verifying",
            Self::Resetting => "resetting",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The progress of a job, reported when a phase begins and after each sector or page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is being done.
    pub phase: Phase,
    /// How much of it is done, in bytes of flash; sectors and pages count as a whole.
    pub bytes: u64,
    /// The phase's total; 0 if it has none.
    pub total: u64,
}

impl Progress {
    pub(crate) fn begin(phase: Phase) -> Self {
        Self {
            phase,
            bytes: 0,
            total: 0,
        }
    }
}

/// Turns the events of the library into [`Progress`].
pub(crate) struct Tracker<'a> {
    report: &'a mut dyn FnMut(Progress),
    now: Progress,
    totals: [u64; 3],
}

impl<'a> Tracker<'a> {
    pub(crate) fn new(report: &'a mut dyn FnMut(Progress)) -> Self {
        let now = Progress::begin(Phase::Connecting);
        let totals = [0; 3];
        Self {
            report,
            now,
            totals,
        }
    }

    pub(crate) fn phase(&self) -> Phase {
        self.now.phase
    }

    pub(crate) fn begin(&mut self, phase: Phase) {
        self.now = Progress::begin(phase);
        (self.report)(self.now);
    }

    pub(crate) fn take(&mut self, event: &ProgressEvent) {
        match event {
            ProgressEvent::AddProgressBar { operation, total } => {
                if let Some((place, _)) = phase_of(*operation) {
                    // One total per algorithm involved.
                    self.totals[place] += total.unwrap_or(0);
                }
            }
            ProgressEvent::Started(operation) => self.enter(*operation),
            ProgressEvent::Progress {
                operation, size, ..
            } => {
                self.enter(*operation);
                self.now.bytes = (self.now.bytes + size).min(self.now.total);
                (self.report)(self.now);
            }
            _ => {}
        }
    }

    fn enter(&mut self, operation: ProgressOperation) {
        let Some((place, phase)) = phase_of(operation) else {
            return;
        };
        if self.now.phase != phase {
            self.now = Progress {
                phase,
                bytes: 0,
                total: self.totals[place],
            };
            (self.report)(self.now);
        }
    }
}

/// The phase of an operation and its place among those with amounts.
fn phase_of(operation: ProgressOperation) -> Option<(usize, Phase)> {
    match operation {
        ProgressOperation::Erase => Some((0, Phase::Erasing)),
        ProgressOperation::Program => Some((1, Phase::Programming)),
        ProgressOperation::Verify => Some((2, Phase::Verifying)),
        ProgressOperation::Fill => None,
    }
}
