//! What everybody may look at without asking the driver: unfinished jobs as they are now, and devices that no job gets.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use scheduler::{Quarantine, State};
use store::jobs::Job;
use tokio::sync::watch;

use crate::{notice, record};

/// The latest state of each unfinished job, and the devices in quarantine.
#[derive(Debug, Default)]
pub(crate) struct Board {
    jobs: Mutex<HashMap<String, watch::Sender<Arc<Job>>>>,
    quarantines: Mutex<HashMap<String, Quarantine>>,
    /// What jobs wait for that have no place.
    waits: Mutex<HashMap<String, Arc<str>>>,
}

impl Board {
    /// The job is like this from now on. One that is over is shown once more, and then its followers are on their own.
    pub(crate) fn show(&self, job: Arc<Job>) {
        let mut jobs = self.lock();
        if job.queue.is_none() {
            if let Some(followers) = jobs.remove(&job.id) {
                followers.send_replace(job);
            }
            return;
        }
        match jobs.get(&job.id) {
            Some(followers) => {
                followers.send_replace(job);
            }
            None => {
                jobs.insert(job.id.clone(), watch::Sender::new(job));
            }
        }
    }

    /// This is what jobs wait for from now on. Followers of those for which that is new are woken.
    pub(crate) fn tell_waits(&self, waits: HashMap<String, Arc<str>>) {
        let former = std::mem::replace(&mut *self.waits(), waits.clone());
        let jobs = self.lock();
        for (job, wait) in &waits {
            if former.get(job) != Some(wait)
                && let Some(followers) = jobs.get(job)
            {
                followers.send_modify(|_| ());
            }
        }
    }

    /// What happens to a job, or what it waits for, or what happened and what to do.
    pub(crate) fn message(&self, job: &Job) -> String {
        let has_place = job.attempts.iter().any(|attempt| attempt.end.is_none());
        let state = record::axes(job).state();
        if state < State::Stopping
            && !has_place
            && let Some(wait) = self.waits().get(&job.id)
        {
            return wait.to_string();
        }
        notice::message(job)
    }

    /// The unfinished jobs as they are now.
    pub(crate) fn unfinished(&self) -> Vec<Arc<Job>> {
        let jobs = self.lock();
        jobs.values().map(|job| job.borrow().clone()).collect()
    }

    /// How many devices no job gets.
    pub(crate) fn quarantined(&self) -> u64 {
        self.quarantines().len() as u64
    }

    /// Follows an unfinished job.
    pub(crate) fn follow(&self, job: &str) -> Option<watch::Receiver<Arc<Job>>> {
        Some(self.lock().get(job)?.subscribe())
    }

    /// No job gets this device from now on.
    pub(crate) fn quarantine(&self, device: &str, quarantine: Quarantine) {
        self.quarantines().insert(device.to_owned(), quarantine);
    }

    /// Jobs may have this device again.
    pub(crate) fn trust(&self, device: &str) {
        self.quarantines().remove(device);
    }

    /// Why no job gets this device.
    pub(crate) fn quarantine_of(&self, device: &str) -> Option<Quarantine> {
        self.quarantines().get(device).cloned()
    }

    fn waits(&self) -> MutexGuard<'_, HashMap<String, Arc<str>>> {
        // It is replaced as a whole.
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn quarantines(&self) -> MutexGuard<'_, HashMap<String, Quarantine>> {
        // As below.
        self.quarantines
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, watch::Sender<Arc<Job>>>> {
        // Each change is one insertion or removal, so a panic elsewhere leaves the map whole.
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
