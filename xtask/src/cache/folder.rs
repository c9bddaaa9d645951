//! The folder of the cache, which all clones of a user share, with a folder for each key. A process that reads or writes it
//! holds its lock, so one saves or restores at a time; the lock ends with the process. The folder of a key is filled
//! under another name and then renamed, so it is always complete; its files never change.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result, bail};

use super::list::List;

/// Most bytes of all keys together, at one and a half GiB each.
pub(super) const BYTES_MAX: u64 = 8 << 30;

/// How long to wait for another process. Saving and restoring take seconds.
const LOCK_WAIT: Duration = Duration::from_secs(60);

/// How often the lock is tried.
const LOCK_INTERVAL: Duration = Duration::from_millis(50);

/// The lock's own name in the folder.
const LOCK: &str = "lock";

/// A file in the folder of a key whose modification time is that of the last use.
const USED: &str = "used";

/// Marks a folder that is not complete yet, or no longer.
const PARTIAL: &str = ".partial-";

/// The cache, locked.
pub(super) struct CacheFolder {
    folder: PathBuf,
    pub(super) bytes_max: u64,
    /// Unlocked when this is dropped.
    _lock: File,
}

/// What the cache has for a key.
pub(super) enum Content {
    Nothing,
    Files(List),
    /// In what way it is damaged.
    Damaged(anyhow::Error),
}

impl CacheFolder {
    /// Opens the cache in `folder`, which is created if it is missing, and removes what killed processes left in it.
    pub(super) fn open(folder: &Path) -> Result<Self> {
        Self::open_within(folder, LOCK_WAIT)
    }

    fn open_within(folder: &Path, limit: Duration) -> Result<Self> {
        fs::create_dir_all(folder)
            .with_context(|| format!("failed to create {}", folder.display()))?;
        let cache = Self {
            folder: folder.to_owned(),
            bytes_max: BYTES_MAX,
            _lock: locked(&folder.join(LOCK), limit)?,
        };
        remove_partial(folder, "")?;
        Ok(cache)
    }

    /// The folder of a key.
    pub(super) fn place(&self, key: &str) -> PathBuf {
        self.folder.join(key)
    }

    /// What the cache has for a key.
    pub(super) fn content(&self, key: &str) -> Content {
        let place = self.place(key);
        if !place.exists() {
            return Content::Nothing;
        }
        List::read(&place).map_or_else(Content::Damaged, Content::Files)
    }

    /// Notes that a key was used now.
    pub(super) fn note_use(&self, key: &str) -> Result<()> {
        let path = self.place(key).join(USED);
        File::create(&path)
            .and_then(|file| file.set_modified(SystemTime::now()))
            .with_context(|| format!("failed to write {}", path.display()))
    }

    /// A new folder to fill, which `put_in_place` gives its name.
    pub(super) fn partial(&self, key: &str) -> Result<PathBuf> {
        let partial = partial(&self.place(key));
        fs::create_dir_all(&partial)
            .with_context(|| format!("failed to create {}", partial.display()))?;
        Ok(partial)
    }

    /// Gives a filled folder its name, in place of the folder that has it.
    pub(super) fn put_in_place(&self, key: &str, partial: &Path) -> Result<()> {
        let old = self.set_aside(key)?;
        fs::rename(partial, self.place(key))
            .with_context(|| format!("failed to rename {}", partial.display()))?;
        remove_all(old.as_deref())
    }

    /// Removes the folder of a key.
    pub(super) fn remove(&self, key: &str) -> Result<()> {
        remove_all(self.set_aside(key)?.as_deref())
    }

    /// Takes its name from the folder of a key, so that it is never seen half removed.
    fn set_aside(&self, key: &str) -> Result<Option<PathBuf>> {
        let place = self.place(key);
        if !place.exists() {
            return Ok(None);
        }
        let aside = self.folder.join(format!("{key}.old{PARTIAL}"));
        fs::rename(&place, &aside)
            .with_context(|| format!("failed to rename {}", place.display()))?;
        Ok(Some(aside))
    }

    /// Removes keys that are damaged, and then those used least recently, until the others and `key` are within the limit.
    pub(super) fn make_room(&self, key: &str) -> Result<()> {
        let mut others = Vec::new();
        let mut bytes = 0;
        for name in self.keys()? {
            let Content::Files(list) = self.content(&name) else {
                self.remove(&name)?;
                continue;
            };
            let size = list.bytes();
            bytes += size;
            if name != key {
                let used = fs::metadata(self.place(&name).join(USED)).and_then(|m| m.modified());
                others.push((used.unwrap_or(SystemTime::UNIX_EPOCH), name, size));
            }
        }
        others.sort();
        for (_, name, size) in others {
            if bytes <= self.bytes_max {
                break;
            }
            self.remove(&name)?;
            bytes -= size;
        }
        Ok(())
    }

    fn keys(&self) -> Result<Vec<String>> {
        let failed = || format!("failed to list {}", self.folder.display());
        let mut keys = Vec::new();
        for entry in fs::read_dir(&self.folder).with_context(failed)? {
            let entry = entry.with_context(failed)?;
            if entry.path().is_dir() {
                keys.extend(entry.file_name().into_string());
            }
        }
        Ok(keys)
    }
}

/// The folder that this process fills and then renames to `place`.
pub(super) fn partial(place: &Path) -> PathBuf {
    let mut name = place.file_name().unwrap_or_default().to_owned();
    name.push(format!("{PARTIAL}{}", std::process::id()));
    place.with_file_name(name)
}

/// Removes what killed processes left in `folder`: of the folders that are not complete, those with this beginning.
pub(super) fn remove_partial(folder: &Path, beginning: &str) -> Result<()> {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(beginning) && name.contains(PARTIAL) {
            remove_all(Some(&entry.path()))?;
        }
    }
    Ok(())
}

fn remove_all(folder: Option<&Path>) -> Result<()> {
    folder.map_or(Ok(()), |folder| {
        fs::remove_dir_all(folder).with_context(|| format!("failed to remove {}", folder.display()))
    })
}

/// A file that this process alone has locked.
fn locked(path: &Path, limit: Duration) -> Result<File> {
    let start = Instant::now();
    loop {
        if let Some(file) = try_lock(path)? {
            return Ok(file);
        }
        if start.elapsed() >= limit {
            let path = path.display();
            bail!("another process holds {path} for {} s", limit.as_secs());
        }
        std::thread::sleep(LOCK_INTERVAL);
    }
}

/// A file that this process alone has locked; `None` while another one has. Cargo locks its folders in the same way.
pub(super) fn try_lock(path: &Path) -> Result<Option<File>> {
    let failed = || format!("failed to lock {}", path.display());
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .with_context(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error).with_context(failed),
    }
}

#[cfg(test)]
mod tests;
