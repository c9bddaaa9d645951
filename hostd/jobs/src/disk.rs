//! Looks after the disk while a step runs: what the job's folder takes, and what is left for everybody.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::statvfs;

use crate::tree;

/// Between two looks at the job's folder.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// A look that takes long is followed by a pause so many times as long.
const PAUSE_FACTOR: u32 = 10;

/// What must not be passed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guard<'g> {
    pub(crate) job: &'g Path,
    /// Bytes that the job's folder may take.
    pub(crate) most: u64,
    /// Bytes that must stay free on its disk.
    pub(crate) floor: u64,
}

/// What was passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passed {
    Most,
    Floor,
}

impl Guard<'_> {
    /// What has been passed, if anything.
    pub(crate) fn look(&self) -> io::Result<Option<Passed>> {
        if !self.has_room()? {
            return Ok(Some(Passed::Floor));
        }
        let is_within = tree::disk_use(self.job)?.is_some_and(|bytes| bytes <= self.most);
        Ok((!is_within).then_some(Passed::Most))
    }

    /// True if more than the floor is free.
    pub(crate) fn has_room(&self) -> io::Result<bool> {
        let disk = statvfs(self.job)?;
        Ok(self.floor <= disk.f_bavail.saturating_mul(disk.f_frsize))
    }
}

/// Says when to look next.
#[derive(Debug)]
pub(crate) struct Pace {
    next: Instant,
}

impl Pace {
    pub(crate) fn new() -> Self {
        Self {
            next: Instant::now() + LOOK_EVERY,
        }
    }

    /// What a look has shown, if it is time for one.
    pub(crate) fn look(&mut self, guard: &Guard<'_>) -> io::Result<Option<Passed>> {
        let begun = Instant::now();
        if begun < self.next {
            return Ok(None);
        }
        let passed = guard.look();
        self.next = Instant::now() + LOOK_EVERY.max(begun.elapsed() * PAUSE_FACTOR);
        passed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_bounds_are_seen() {
        let job = tempfile::tempdir().unwrap();
        std::fs::write(job.path().join("x"), vec![1; 1 << 20]).unwrap();
        let look = |most, floor| {
            let guard = Guard {
                job: job.path(),
                most,
                floor,
            };
            guard.look().unwrap()
        };
        assert_eq!(look(2 << 20, 0), None);
        assert_eq!(look(1 << 19, 0), Some(Passed::Most));
        assert_eq!(look(2 << 20, u64::MAX), Some(Passed::Floor));
    }
}
