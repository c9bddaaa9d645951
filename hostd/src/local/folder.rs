//! The folder of a bench that lasts as long as its process, held by a lock that ends with it however that dies.
//! Whoever makes one removes those that others have left.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use base::{id, private};
use rustix::fs::{FlockOperation, flock};

/// The folder of all of them, below that for running builds.
const BENCHES: &str = "benches";

/// A folder that is removed when this is dropped.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    pub(super) fn make(state: &Path) -> io::Result<Self> {
        let all = state.join(BENCHES);
        private::make_folder(&all)?;
        // Nobody makes or removes one meanwhile.
        let _turn = lock(&all, FlockOperation::LockExclusive)?;
        for entry in fs::read_dir(&all)? {
            let left = entry?.path();
            if lock(&left, FlockOperation::NonBlockingLockExclusive).is_ok() {
                fs::remove_dir_all(&left)?;
            }
        }
        let path = all.join(id::request_id());
        private::make_folder(&path)?;
        let lock = lock(&path, FlockOperation::NonBlockingLockExclusive)?;
        Ok(Self { path, _lock: lock })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it.
    pub(super) fn remove(self) -> io::Result<()> {
        // What is tried again when this is dropped is of no harm.
        fs::remove_dir_all(&self.path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed now is removed by the next one that looks.
        let _ = fs::remove_dir_all(&self.path);
    }
}

fn lock(folder: &Path, how: FlockOperation) -> io::Result<File> {
    let lock = File::open(folder)?;
    flock(&lock, how)?;
    Ok(lock)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_goes_with_its_process_or_with_the_next_one() {
        let state = tempfile::tempdir().unwrap();
        let all = state.path().join(BENCHES);
        let count = || fs::read_dir(&all).unwrap().count();
        let first = Folder::make(state.path()).unwrap();
        fs::write(first.path().join("file"), "").unwrap();
        let second = Folder::make(state.path()).unwrap();
        assert_eq!(count(), 2, "what is held stays");
        // As if its process had been killed.
        flock(&second._lock, FlockOperation::Unlock).unwrap();
        let left = second.path().to_owned();
        let third = Folder::make(state.path()).unwrap();
        assert!(!left.exists() && third.path().exists() && first.path().exists());
        first.remove().unwrap();
        drop(third);
        assert_eq!(count(), 0);
    }
}
