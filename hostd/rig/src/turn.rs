//! A place among those who read captures, which is given up again and again: a run reads for minutes, and others wait.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use jobs::{BenchError, Until};
use tokio::sync::OwnedSemaphorePermit;

use crate::device::{Lab, within};

/// How long a place is held before whoever waits gets one.
const SLICE: Duration = Duration::from_millis(50);

/// A place that is held while something is read.
pub(crate) struct Turn<'l> {
    lab: &'l Lab,
    held: Mutex<Held>,
}

struct Held {
    /// None when waiting for another one ended early.
    permit: Option<OwnedSemaphorePermit>,
    since: Instant,
}

impl<'l> Turn<'l> {
    /// Waits for a place.
    pub(crate) fn take(lab: &'l Lab, until: &Until<'_>) -> Result<Self, BenchError> {
        let permit = Some(permit(lab, until)?);
        let since = Instant::now();
        Ok(Self {
            lab,
            held: Mutex::new(Held { permit, since }),
        })
    }

    /// Lets others have the place if it was held long enough, and waits for one again. Whoever comes while another thread
    /// does so goes on: they share the place.
    pub(crate) fn pass(&self, until: &Until<'_>) {
        let Ok(mut held) = self.held.try_lock() else {
            return;
        };
        if held.since.elapsed() < SLICE {
            return;
        }
        held.permit = None;
        // Who is out of time learns of it where the time is looked at.
        held.permit = permit(self.lab, until).ok();
        held.since = Instant::now();
    }
}

fn permit(lab: &Lab, until: &Until<'_>) -> Result<OwnedSemaphorePermit, BenchError> {
    within(&lab.handle, until, async {
        Ok(lab.captures.reader_permit().await)
    })
}
