//! Work on a device that its UART line survives: clients are told when it begins and how it ends, and
//! a line whose pod restarts for an update waits for the pod.

use std::sync::Arc;

use serde::Serialize;

use super::Uarts;
use super::control::Notice;

/// What is done to a device while its line is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Flashing its target, which ends with a reset of the target.
    Flash,
    /// Updating the pod's own firmware, which ends with a restart of the pod.
    Update,
}

/// How far the work is, as clients are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    Begun,
    Done,
    Failed,
    Cancelled,
}

/// Work that goes on until this is dropped.
#[derive(Debug)]
pub struct During {
    uarts: Arc<Uarts>,
    device: String,
    work: Work,
    id: String,
    end: Stage,
}

impl During {
    pub(super) fn new(uarts: Arc<Uarts>, device: &str, work: Work, id: &str) -> Self {
        let during = Self {
            uarts,
            device: device.to_owned(),
            work,
            id: id.to_owned(),
            end: Stage::Failed,
        };
        during.tell(Stage::Begun);
        during
    }

    /// The work is over. If dropped without this call, it has failed.
    pub fn end(mut self, stage: Stage) {
        self.end = stage;
    }

    fn tell(&self, stage: Stage) {
        let mut lines = self.uarts.lines();
        let entry = lines.entry(self.device.clone()).or_default();
        if self.work == Work::Update {
            entry.updating.send_replace(stage == Stage::Begun);
        }
        if let Some(line) = &entry.line {
            line.notices.push(Notice::Work {
                work: self.work,
                id: self.id.clone(),
                stage,
                offset: line.bytes.end(),
            });
        }
    }
}

impl Drop for During {
    fn drop(&mut self) {
        self.tell(self.end);
    }
}
