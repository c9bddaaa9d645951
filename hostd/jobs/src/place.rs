//! Places for jobs to run in: a slot of the jail, and a folder that goes with it.
//!
//! A place is held by a lock on its folder, which ends with its holder however that dies. Whoever takes one removes
//! what holders that died have left in any.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::lchown;
use std::path::{Path, PathBuf};
use std::thread;

use base::private;
use jail::Slot;
use rustix::fs::{FlockOperation, flock};

use crate::tree;

/// The folder of places, below that of the runner.
const PLACES: &str = "places";

/// The job's folder in a place.
const JOB: &str = "job";

/// The slot of what unpacks images, in which no job runs: they belong to its user.
const UNPACKING: u16 = Slot::COUNT - 1;

/// The slot in which images are unpacked.
pub(crate) fn unpacking_slot() -> Slot {
    Slot::new(UNPACKING).expect("it is the last one")
}

/// A place, held until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) slot: Slot,
    folder: PathBuf,
    _lock: File,
}

impl Place {
    /// Takes the first free place, after removing what is left in all that are free. None if none is free.
    pub(crate) fn take(state: &Path) -> io::Result<Option<Self>> {
        let places = state.join(PLACES);
        private::make_folder(&places)?;
        let mut taken = None;
        for number in 0..UNPACKING {
            let folder = places.join(number.to_string());
            // Behind the first free one, only those that were used once are looked at.
            if taken.is_some() && !folder.exists() {
                break;
            }
            private::make_folder(&folder)?;
            let Some(lock) = lock(&folder)? else { continue };
            tree::remove(&folder.join(JOB))?;
            if let (None, Some(slot)) = (&taken, Slot::new(number)) {
                taken = Some(Self {
                    slot,
                    folder,
                    _lock: lock,
                });
            }
        }
        Ok(taken)
    }

    /// The job's folder, which is `/job` inside.
    pub(crate) fn job(&self) -> PathBuf {
        self.folder.join(JOB)
    }

    /// Whose everything in it must be; none: whoever runs jobs.
    pub(crate) fn owner(&self) -> Option<u32> {
        Slot::are_users().then(|| self.slot.uid())
    }

    /// Makes a folder below the job's, which is the job's.
    pub(crate) fn make(&self, below: &str) -> io::Result<()> {
        let folder = self.job().join(below);
        private::make_folder(&folder)?;
        match self.owner() {
            Some(owner) => lchown(&folder, Some(owner), Some(owner)),
            None => Ok(()),
        }
    }

    /// Removes everything of the job.
    pub(crate) fn clear(&self) -> io::Result<()> {
        tree::remove(&self.job())
    }

    /// Gives it back when everything of the job is removed, without waiting for that. Nobody else takes it before, and
    /// if this process dies, whoever looks for a place removes the rest.
    pub(crate) fn give_back_later(self) {
        let name = "removes-files".to_owned();
        // Without a thread it is given back at once.
        drop(thread::Builder::new().name(name).spawn(move || drop(self)));
    }

    /// Moves the job's folder away, for people to look at.
    pub(crate) fn keep(&self, to: &Path) -> io::Result<()> {
        if let Some(parent) = to.parent() {
            private::make_folder(parent)?;
        }
        tree::remove(to)?;
        fs::rename(self.job(), to)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // What cannot be removed now is removed by the next one that looks.
        let _ = self.clear();
    }
}

fn lock(folder: &Path) -> io::Result<Option<File>> {
    let lock = File::open(folder)?;
    match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(lock)),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_held_by_one_and_cleaned_of_what_another_left() {
        let state = tempfile::tempdir().unwrap();
        let first = Place::take(state.path()).unwrap().unwrap();
        let second = Place::take(state.path()).unwrap().unwrap();
        assert_ne!(first.slot, second.slot);
        second.make("").unwrap();
        fs::write(second.job().join("left"), "").unwrap();
        // As if its holder had been killed.
        let left = second.job();
        flock(&second._lock, FlockOperation::Unlock).unwrap();
        let third = Place::take(state.path()).unwrap().unwrap();
        assert_eq!(third.slot, second.slot);
        assert!(!left.exists());
    }
}
