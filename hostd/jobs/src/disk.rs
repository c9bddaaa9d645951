//! Looks after the disk while a step runs: what the job's folder takes, and what is left for everybody.

mod floor;

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::statvfs;

use crate::tree;

pub(crate) use floor::Floor;

/// Between two looks at the job's folder.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// A look that takes long is followed by a pause so many times as long.
const PAUSE_FACTOR: u32 = 10;

/// How long a run goes on while the disk is nearly full, if its own folder is not what fills it: whoever does is ended
/// first, and that usually makes room.
const SHORTAGE_BORNE: Duration = Duration::from_secs(20);

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
    /// What has been passed, if anything. The floor counts if the job's folder holds as much as is missing, or if a
    /// shortage is borne no longer.
    pub(crate) fn look(&self, bears_shortage: bool) -> io::Result<Option<Passed>> {
        let used = tree::disk_use(self.job)?.unwrap_or(u64::MAX);
        if self.most < used {
            return Ok(Some(Passed::Most));
        }
        let missing = self.floor.saturating_sub(self.free()?);
        let is_to_blame = missing <= used || !bears_shortage;
        Ok((0 < missing && is_to_blame).then_some(Passed::Floor))
    }

    /// True if more than the floor is free.
    pub(crate) fn has_room(&self) -> io::Result<bool> {
        Ok(self.floor <= self.free()?)
    }

    fn free(&self) -> io::Result<u64> {
        let disk = statvfs(self.job)?;
        Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
    }
}

/// Says when to look next.
#[derive(Debug)]
pub(crate) struct Pace {
    next: Instant,
    /// Since when the disk is nearly full.
    short_since: Option<Instant>,
}

impl Pace {
    pub(crate) fn new() -> Self {
        Self {
            next: Instant::now() + LOOK_EVERY,
            short_since: None,
        }
    }

    /// What a look has shown, if it is time for one.
    pub(crate) fn look(&mut self, guard: &Guard<'_>) -> io::Result<Option<Passed>> {
        let begun = Instant::now();
        if begun < self.next {
            return Ok(None);
        }
        let has_room = guard.has_room()?;
        self.short_since = self.short_since.or(Some(begun)).filter(|_| !has_room);
        let bears = |since: Instant| since.elapsed() < SHORTAGE_BORNE;
        let passed = guard.look(self.short_since.is_none_or(bears));
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
        let guard = |most, floor| Guard {
            job: job.path(),
            most,
            floor,
        };
        let look = |most, floor| guard(most, floor).look(true).unwrap();
        assert_eq!(look(2 << 20, 0), None);
        assert_eq!(look(1 << 19, 0), Some(Passed::Most));
        // As much is missing as this job has, or more.
        let free = guard(0, 0).free().unwrap();
        assert_eq!(look(2 << 20, free + (1 << 18)), Some(Passed::Floor));
        assert_eq!(look(2 << 20, u64::MAX), None);
        let borne_no_longer = guard(2 << 20, u64::MAX).look(false).unwrap();
        assert_eq!(borne_no_longer, Some(Passed::Floor));
    }
}
