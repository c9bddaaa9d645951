//! What unfinished jobs wait for, on the board for everybody who looks at them.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;

use super::Driver;

/// Between two times that it is said of all jobs: with each that starts, the places of all others change.
const TELL_EVERY: Duration = Duration::from_secs(2);

/// Whether it has to be said again, and when it may be.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    is_due: bool,
    told: Option<Instant>,
}

impl Waits {
    /// Something has happened.
    pub(super) fn note(&mut self) {
        self.is_due = true;
    }

    /// Resolves when it has to be said again.
    pub(super) async fn due(&self) {
        if !self.is_due {
            return std::future::pending().await;
        }
        if let Some(told) = self.told {
            tokio::time::sleep_until(told + TELL_EVERY).await;
        }
    }
}

impl Driver {
    /// Says of each job that waits for a place what it waits for.
    pub(super) fn tell_waits(&mut self) {
        self.waits = Waits {
            is_due: false,
            told: Some(Instant::now()),
        };
        let devices = self.devices.all().into_iter();
        let names: HashMap<String, String> = devices.map(|d| (d.id, d.name)).collect();
        let name = |id: &scheduler::DeviceId| {
            let name = names.get(&*id.0).cloned();
            name.unwrap_or_else(|| id.to_string())
        };
        let mut told = HashMap::new();
        for wait in self.scheduler.waits(name) {
            let Some(entry) = self.entries.get(&*wait.job.0) else {
                continue;
            };
            let runs = &entry.job.runs;
            let run = runs.get(wait.task as usize).filter(|_| runs.len() > 1);
            told.entry(wait.job.to_string()).or_insert_with(|| {
                run.map_or_else(
                    || wait.sentence.as_str().into(),
                    |run| format!("{} waits. {}", run.id, wait.sentence).into(),
                )
            });
        }
        self.board.tell_waits(told);
    }
}
