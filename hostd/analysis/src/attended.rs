//! The tasks of runs that are not finished, and how each is told to end.
//!
//! Of those that wait there may be many, so a task has a pipe, which costs two descriptors, only from when its run begins.

use std::collections::HashMap;
use std::io::{self, PipeReader, PipeWriter};
use std::sync::{Mutex, MutexGuard, PoisonError};

use store::emi::runs::{Progress, Run, Status};
use tokio::sync::oneshot;

/// Tasks of runs that are not finished, by the run's id.
#[derive(Debug, Default)]
pub(crate) struct Attended(Mutex<HashMap<String, Attendee>>);

#[derive(Debug)]
struct Attendee {
    /// Tells this task from an earlier one of the same run.
    number: u64,
    /// Dropped to have it end. None: it is ending.
    stop: Option<Stop>,
    progress: Progress,
}

/// What a task notices that it is to end.
#[derive(Debug)]
enum Stop {
    /// While it waits.
    Waiting {
        /// Dropped.
        _sender: oneshot::Sender<()>,
    },
    /// While it runs.
    Running {
        /// Closed.
        _writer: PipeWriter,
    },
}

/// The other end, while it waits.
#[derive(Debug)]
pub(crate) struct Ticket {
    pub(crate) number: u64,
    /// Ends when the task is to end.
    pub(crate) stopped: oneshot::Receiver<()>,
}

impl Attended {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Attendee>> {
        // Each change is one call, so a panic elsewhere leaves a valid map.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A task for a run that waits, in place of an earlier one, which is ending.
    pub(crate) fn begin(&self, id: &str, number: u64) -> Ticket {
        let (sender, stopped) = oneshot::channel();
        let attendee = Attendee {
            number,
            stop: Some(Stop::Waiting { _sender: sender }),
            progress: Progress::default(),
        };
        self.lock().insert(id.to_owned(), attendee);
        Ticket { number, stopped }
    }

    /// The run is about to begin: what ends when it is to end. None: it is not wanted any more.
    pub(crate) fn start(&self, id: &str, number: u64) -> io::Result<Option<PipeReader>> {
        let (stopped, writer) = io::pipe()?;
        let mut map = self.lock();
        let own = map.get_mut(id).filter(|own| own.number == number);
        // A stop that came while it had no pipe is seen here, and one that comes later closes the pipe.
        let Some(stop) = own.and_then(|own| own.stop.as_mut()) else {
            return Ok(None);
        };
        *stop = Stop::Running { _writer: writer };
        Ok(Some(stopped))
    }

    /// Whether the task with this number is the run's, and nobody has said that it is to end.
    pub(crate) fn is_wanted(&self, id: &str, number: u64) -> bool {
        let map = self.lock();
        let own = map.get(id).filter(|own| own.number == number);
        own.is_some_and(|own| own.stop.is_some())
    }

    /// The run has been carried out, and its end is still to be stored: how far it came.
    pub(crate) fn carried_out(&self, id: &str, number: u64) -> Progress {
        let mut map = self.lock();
        let Some(own) = map.get_mut(id).filter(|own| own.number == number) else {
            return Progress::default();
        };
        own.stop = None;
        own.progress.clone()
    }

    /// The task ends.
    pub(crate) fn end(&self, id: &str, number: u64) {
        let mut map = self.lock();
        if map.get(id).is_some_and(|own| own.number == number) {
            map.remove(id);
        }
    }

    pub(crate) fn note(&self, id: &str, progress: Progress) {
        if let Some(attendee) = self.lock().get_mut(id) {
            attendee.progress = progress;
        }
    }

    /// Have the task of a run end, if there is one.
    pub(crate) fn stop(&self, id: &str) {
        if let Some(attendee) = self.lock().get_mut(id) {
            attendee.stop = None;
        }
    }

    pub(crate) fn stop_all(&self) {
        self.lock()
            .values_mut()
            .for_each(|attendee| attendee.stop = None);
    }

    /// How many wait for a place.
    pub(crate) fn waiting(&self) -> u64 {
        let map = self.lock();
        let waits = |one: &&Attendee| matches!(one.stop, Some(Stop::Waiting { .. }));
        map.values().filter(waits).count() as u64
    }

    pub(crate) fn has(&self, id: &str) -> bool {
        self.lock().contains_key(id)
    }

    /// Add to a run that is under way how far it is.
    pub(crate) fn tell(&self, run: &mut Run) {
        let is_under_way = matches!(run.status, Status::InProgress | Status::Stopping);
        if let Some(attendee) = self.lock().get(&run.id).filter(|_| is_under_way) {
            run.progress = attendee.progress.clone();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use tokio::sync::oneshot::error::TryRecvError;

    use super::*;

    fn is_stopped(ticket: &mut Ticket) -> bool {
        ticket.stopped.try_recv() == Err(TryRecvError::Closed)
    }

    #[test]
    fn one_that_waits_has_no_pipe_and_loses_no_stop() {
        let attended = Attended::default();
        let mut ticket = attended.begin("run", 1);
        let stop = |attended: &Attended| match &attended.lock()["run"].stop {
            Some(Stop::Waiting { .. }) => "waiting",
            Some(Stop::Running { .. }) => "running",
            None => "ending",
        };
        assert_eq!((stop(&attended), attended.waiting()), ("waiting", 1));
        assert!(!is_stopped(&mut ticket) && attended.is_wanted("run", 1));
        attended.stop("run");
        assert!(is_stopped(&mut ticket) && !attended.is_wanted("run", 1));
        // It had its place by then.
        assert!(attended.start("run", 1).unwrap().is_none());
        let _ticket = attended.begin("run", 2);
        assert!(attended.start("run", 1).unwrap().is_none());
        let mut stopped = attended.start("run", 2).unwrap().unwrap();
        assert_eq!((stop(&attended), attended.waiting()), ("running", 0));
        attended.stop("run");
        assert_eq!(stopped.read(&mut [0]).unwrap(), 0);
    }

    #[test]
    fn one_that_ends_leaves_its_successor_alone() {
        let attended = Attended::default();
        let _first = attended.begin("run", 1);
        let progress = Progress {
            pct: 7,
            ..Progress::default()
        };
        attended.note("run", progress.clone());
        assert_eq!(attended.carried_out("run", 1), progress);
        assert!(attended.has("run") && !attended.is_wanted("run", 1));
        let mut second = attended.begin("run", 2);
        assert_eq!(attended.carried_out("run", 1), Progress::default());
        attended.end("run", 1);
        assert!(attended.is_wanted("run", 2) && !is_stopped(&mut second));
        attended.end("run", 2);
        assert!(!attended.has("run"));
    }
}
