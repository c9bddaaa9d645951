//! Folders that a build keeps from one job to the next, found by what they were made from and for whom.
//!
//! ```text
//! cache/by-org/<organisation>/<entry>/tree/<path>   what was kept
//! cache/by-org/<organisation>/<entry>/size          its bytes; its time is when it was last used
//! cache/by-org/<organisation>/lock                  held while what the organisation keeps is read or changed
//! ```
//!
//! An organisation finds nothing of another one: folder and name of an entry are digests of whose it is. Room is taken
//! from the organisation that has most, so that nobody loses what they keep to one that keeps more.
//!
//! A cache never spoils a build: whatever is wrong with it is told in the log, and the build goes on without.

use std::collections::BTreeMap;
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

mod owner;

pub use owner::{CacheOwner, Layer};

/// Kept trees at most, whatever their size.
const ENTRIES_MAX: usize = 1000;

/// Files that decide about one key. With more, a build goes on without a cache.
const KEY_FILES_MAX: usize = 20_000;

/// Time for other jobs to be done with the cache; after it a build goes on without.
const LOCK_WAIT_MAX: Duration = Duration::from_secs(60);

/// Between two attempts to lock it.
const LOCK_POLL: Duration = Duration::from_millis(20);

/// Names below `cache`, an organisation's folder and an entry.
const BY_ORG: &str = "by-org";
const LOCK: &str = "lock";
const TREE: &str = "tree";
const SIZE: &str = "size";

/// How the names of trees begin that are being kept.
const INCOMPLETE: &str = "incomplete-";

/// The trees that one organisation keeps, as a job of it sees them.
#[derive(Debug)]
pub(crate) struct Cache {
    /// Those of all organisations.
    root: PathBuf,
    /// Those of this one.
    folder: PathBuf,
    owner: CacheOwner,
    bytes_max: u64,
    _lock: File,
}

/// What a kept tree was made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key(String);

/// An entry on the disk.
#[derive(Debug)]
struct Kept {
    used: SystemTime,
    bytes: u64,
    path: PathBuf,
}

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

    /// The name of its entry in a layer.
    fn entry(&self, layer: &Layer) -> String {
        let mut digest = Sha256::new();
        layer.add_to(&mut digest);
        add(&mut digest, self.0.as_bytes());
        hex::encode(digest.finalize())
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
    /// Opens what an organisation keeps below `state`, waiting for its other jobs that use it.
    ///
    /// # Errors
    /// It was cancelled meanwhile, others take too long, or the folder cannot be used.
    pub(crate) fn open(
        state: &Path,
        owner: &CacheOwner,
        bytes_max: u64,
        cancel: &Cancel,
    ) -> Result<Self, CopyError> {
        let root = state.join("cache");
        let folder = root.join(BY_ORG).join(owner.folder());
        let lock = private::make_folder(&folder)
            .and_then(|()| lock_file(&folder))
            .and_then(|file| Ok(lock(&file, cancel)?.then_some(file)));
        match lock {
            Ok(Some(lock)) => Ok(Self {
                root,
                folder,
                owner: owner.clone(),
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

    /// Copies what is kept under a key to the job's folder. Where it was; none if nothing is kept that the job may read.
    pub(crate) fn restore(
        &self,
        key: &Key,
        job: &Path,
        rules: &Rules<'_>,
    ) -> Result<Option<&Layer>, CopyError> {
        for layer in self.owner.read() {
            let entry = self.folder.join(key.entry(layer));
            if !entry.join(SIZE).exists() {
                continue;
            }
            tree::copy(&entry.join(TREE), job, rules)?;
            // A tree that seems older than it is goes earlier: nothing worse.
            let _ = touch(&entry.join(SIZE));
            return Ok(Some(layer));
        }
        Ok(None)
    }

    /// Keeps what is at `paths` of the job's folder, in the layer that the job writes. Returns how many bytes that is;
    /// none if there is nothing there.
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
        let name = key.entry(self.owner.written());
        let incomplete = self.folder.join(format!("{INCOMPLETE}{name}"));
        tree::remove(&incomplete).map_err(io)?;
        let filled = self.fill(&incomplete, job, paths, rules);
        if let Ok(Some(bytes)) = filled {
            let size = bytes.to_string();
            private::write_file(&incomplete.join(SIZE), size.as_bytes()).map_err(io)?;
            let entry = self.folder.join(name);
            tree::remove(&entry).map_err(io)?;
            fs::rename(&incomplete, &entry).map_err(io)?;
            self.make_room().map_err(io)?;
            if !entry.exists() {
                return Err(CopyError::Large {
                    path: job.to_owned(),
                    bytes: self.bytes_max,
                });
            }
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

    /// Removes what was used longest ago, of whichever organisation has most, until the rest is within bounds; and what
    /// was never finished, and what belongs to nobody.
    fn make_room(&self) -> io::Result<()> {
        self.remove_unowned()?;
        let mut orgs = BTreeMap::new();
        for folder in folders(&self.root.join(BY_ORG))? {
            let kept = self.kept(&folder)?;
            orgs.insert(folder, kept);
        }
        let bytes_of = |kept: &Vec<Kept>| kept.iter().map(|entry| entry.bytes).sum::<u64>();
        loop {
            let bytes: u64 = orgs.values().map(bytes_of).sum();
            let count: usize = orgs.values().map(Vec::len).sum();
            let most = if bytes > self.bytes_max {
                orgs.iter().max_by_key(|(_, kept)| bytes_of(kept))
            } else if count > ENTRIES_MAX {
                orgs.iter().max_by_key(|(_, kept)| kept.len())
            } else {
                return Ok(());
            };
            let Some(folder) = most.map(|(folder, _)| folder.clone()) else {
                return Ok(());
            };
            if !self.remove_oldest(&folder, orgs.get_mut(&folder))? {
                // Its jobs use it just now. The next one that keeps something makes the room.
                orgs.remove(&folder);
            }
        }
    }

    /// Removes the entry of an organisation that was used longest ago. False if there is none, or a job of the
    /// organisation has what it keeps.
    fn remove_oldest(&self, folder: &Path, kept: Option<&mut Vec<Kept>>) -> io::Result<bool> {
        let Some(_lock) = self.lock_other(folder)? else {
            return Ok(false);
        };
        let Some(kept) = kept.filter(|kept| !kept.is_empty()) else {
            return Ok(false);
        };
        tree::remove(&kept.remove(0).path)?;
        Ok(true)
    }

    /// The entries of an organisation, those used longest ago first. What was never finished is removed.
    fn kept(&self, folder: &Path) -> io::Result<Vec<Kept>> {
        let lock = self.lock_other(folder)?;
        let mut kept = Vec::new();
        for path in folders(folder)? {
            match used(&path) {
                Some((used, bytes)) => kept.push(Kept { used, bytes, path }),
                None if lock.is_some() => tree::remove(&path)?,
                None => {}
            }
        }
        kept.sort_by_key(|entry| entry.used);
        Ok(kept)
    }

    /// Locks what an organisation keeps, if none of its jobs has; this one's own is locked already.
    fn lock_other(&self, folder: &Path) -> io::Result<Option<Option<File>>> {
        if folder == self.folder {
            return Ok(Some(None));
        }
        let file = lock_file(folder)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Some(file))),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes what versions have left that did not say whose it is.
    fn remove_unowned(&self) -> io::Result<()> {
        let unowned = folders(&self.root)?.into_iter();
        let mut unowned = unowned.filter(|path| path.file_name().is_none_or(|name| name != BY_ORG));
        unowned.try_for_each(|path| tree::remove(&path))
    }
}

/// The folders in a folder.
fn folders(of: &Path) -> io::Result<Vec<PathBuf>> {
    let paths = fs::read_dir(of)?.flatten().map(|entry| entry.path());
    let is_folder = |path: &PathBuf| path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
    Ok(paths.filter(is_folder).collect())
}

fn lock_file(folder: &Path) -> io::Result<File> {
    private::lock_file(&folder.join(LOCK))
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
