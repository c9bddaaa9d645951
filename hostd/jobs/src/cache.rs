//! Folders that a build keeps from one job to the next, found by what they were made from.
//!
//! ```text
//! cache/<key>/tree/<path>   what was kept
//! cache/<key>/size          its bytes; its time is when it was last used
//! cache/lock                held while the cache is read or changed
//! ```
//!
//! A cache never spoils a build: whatever is wrong with it is told in the log, and the build goes on without.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use base::private;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use crate::cancel::Cancel;
use crate::tree::{self, CopyError, Rules};

/// Kept trees at most, whatever their size.
const ENTRIES_MAX: usize = 1000;

/// Files that decide about one key. With more, a build goes on without a cache.
const KEY_FILES_MAX: usize = 20_000;

/// Time for other jobs to be done with the cache; after it a build goes on without.
const LOCK_WAIT_MAX: Duration = Duration::from_secs(60);

/// Between two attempts to lock it.
const LOCK_POLL: Duration = Duration::from_millis(20);

/// Names below `cache/<key>`.
const TREE: &str = "tree";
const SIZE: &str = "size";

/// How the names of trees begin that are being kept.
const INCOMPLETE: &str = "incomplete-";

/// The kept trees of one runner.
#[derive(Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
    bytes_max: u64,
    _lock: File,
}

/// What a kept tree is found by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key(String);

impl Key {
    /// The key of a build whose sources are at `job`.
    pub(crate) fn of(
        cache: &pipeline::plan::Cache,
        toolchain: &[u8; 32],
        job: &Path,
    ) -> Result<Self, CopyError> {
        let mut digest = Sha256::new();
        digest.update(toolchain);
        add(&mut digest, cache.definition.as_bytes());
        let search = tree::Search {
            patterns: &cache.key,
            files_max: KEY_FILES_MAX,
            cancel: None,
        };
        for file in tree::matching(job, &search)? {
            add(&mut digest, file.as_os_str().as_encoded_bytes());
            let content = digest_of(&job.join(&file));
            digest.update(content.map_err(|source| CopyError::Io { path: file, source })?);
        }
        Ok(Self(hex::encode(digest.finalize())))
    }

    /// Enough of it to tell it from others, for people.
    pub(crate) fn short(&self) -> &str {
        &self.0[..12]
    }
}

/// Adds bytes so that they cannot be mistaken for the end of those before.
fn add(digest: &mut Sha256, bytes: &[u8]) {
    digest.update((bytes.len() as u64).to_le_bytes());
    digest.update(bytes);
}

fn digest_of(path: &Path) -> io::Result<[u8; 32]> {
    let mut file = File::open(path)?;
    let mut digest = Sha256::new();
    let mut piece = vec![0; 64 << 10];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(digest.finalize().into()),
            len => digest.update(&piece[..len]),
        }
    }
}

impl Cache {
    /// Opens the cache below `state`, waiting for others that use it.
    ///
    /// # Errors
    /// It was cancelled meanwhile, others take too long, or the folder cannot be used.
    pub(crate) fn open(state: &Path, bytes_max: u64, cancel: &Cancel) -> Result<Self, CopyError> {
        let folder = state.join("cache");
        let lock = lock_file(&folder).and_then(|file| Ok(lock(&file, cancel)?.then_some(file)));
        match lock {
            Ok(Some(lock)) => Ok(Self {
                folder,
                bytes_max,
                _lock: lock,
            }),
            Ok(None) => Err(CopyError::Cancelled),
            Err(source) => Err(CopyError::Io {
                path: folder,
                source,
            }),
        }
    }

    /// Copies what is kept under a key to the job's folder. False if nothing is.
    pub(crate) fn restore(
        &self,
        key: &Key,
        job: &Path,
        rules: &Rules<'_>,
    ) -> Result<bool, CopyError> {
        let entry = self.folder.join(&key.0);
        if !entry.join(SIZE).exists() {
            return Ok(false);
        }
        tree::copy(&entry.join(TREE), job, rules)?;
        // A tree that seems older than it is goes earlier: nothing worse.
        let _ = touch(&entry.join(SIZE));
        Ok(true)
    }

    /// Keeps what is at `paths` of the job's folder. Returns how many bytes that is; none if there is nothing there.
    pub(crate) fn save(
        &self,
        key: &Key,
        job: &Path,
        paths: &[String],
        rules: &Rules<'_>,
    ) -> Result<Option<u64>, CopyError> {
        let io = |source| CopyError::Io {
            path: self.folder.clone(),
            source,
        };
        let incomplete = self.folder.join(format!("{INCOMPLETE}{}", key.0));
        tree::remove(&incomplete).map_err(io)?;
        let filled = self.fill(&incomplete, job, paths, rules);
        if let Ok(Some(bytes)) = filled {
            let size = bytes.to_string();
            private::write_file(&incomplete.join(SIZE), size.as_bytes()).map_err(io)?;
            let entry = self.folder.join(&key.0);
            tree::remove(&entry).map_err(io)?;
            fs::rename(&incomplete, entry).map_err(io)?;
            self.make_room().map_err(io)?;
        } else {
            tree::remove(&incomplete).map_err(io)?;
        }
        filled
    }

    fn fill(
        &self,
        incomplete: &Path,
        job: &Path,
        paths: &[String],
        rules: &Rules<'_>,
    ) -> Result<Option<u64>, CopyError> {
        let io = |source| CopyError::Io {
            path: incomplete.to_owned(),
            source,
        };
        let mut bytes = None;
        for path in paths {
            let relative = Path::new(path);
            let Some(from) = tree::beneath(job, relative).map_err(io)? else {
                continue;
            };
            // A link at the end is no folder to keep.
            if !from.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
                continue;
            }
            let to = incomplete.join(TREE).join(relative);
            private::make_folder(&to).map_err(io)?;
            let left = Rules {
                owner: None,
                bytes_max: self.bytes_max.saturating_sub(bytes.unwrap_or(0)),
                ..*rules
            };
            *bytes.get_or_insert(0) += tree::copy(&from, &to, &left)?;
        }
        Ok(bytes)
    }

    /// Removes what was used longest ago until the rest is within bounds, and what was never finished.
    fn make_room(&self) -> io::Result<()> {
        let mut kept = Vec::new();
        for entry in fs::read_dir(&self.folder)?.flatten() {
            let path = entry.path();
            if !path.is_dir() {
                continue;
            }
            match used(&path) {
                Some((time, bytes)) => kept.push((time, bytes, path)),
                None => tree::remove(&path)?,
            }
        }
        kept.sort();
        let mut bytes: u64 = kept.iter().map(|(_, bytes, _)| bytes).sum();
        let mut count = kept.len();
        for (_, size, path) in kept {
            if bytes <= self.bytes_max && count <= ENTRIES_MAX {
                break;
            }
            tree::remove(&path)?;
            bytes -= size;
            count -= 1;
        }
        Ok(())
    }
}

fn lock_file(folder: &Path) -> io::Result<File> {
    private::make_folder(folder)?;
    private::lock_file(&folder.join("lock"))
}

/// Locks the cache. False if it was cancelled before others were done with it.
fn lock(file: &File, cancel: &Cancel) -> io::Result<bool> {
    let until = Instant::now() + LOCK_WAIT_MAX;
    loop {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(true),
            Err(Errno::WOULDBLOCK) if cancel.is_set() => return Ok(false),
            Err(Errno::WOULDBLOCK) if Instant::now() < until => thread::sleep(LOCK_POLL),
            Err(Errno::WOULDBLOCK) => return Err(io::ErrorKind::TimedOut.into()),
            Err(error) => return Err(error.into()),
        }
    }
}

/// When a tree was last used, and its size.
pub(crate) fn used(entry: &Path) -> Option<(SystemTime, u64)> {
    let size = entry.join(SIZE);
    let bytes = fs::read_to_string(&size).ok()?.parse().ok()?;
    let time = size.metadata().ok()?.modified().ok()?;
    Some((time, bytes))
}

pub(crate) fn touch(path: &Path) -> io::Result<()> {
    File::options()
        .write(true)
        .open(path)?
        .set_modified(SystemTime::now())
}

#[cfg(test)]
mod tests;
