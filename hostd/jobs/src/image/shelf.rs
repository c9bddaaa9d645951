//! Where unpacked images lie, and whose turn it is with each.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use base::private;
use rustix::fs::{FlockOperation, flock, fstat, syncfs};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use super::ImageError;
use crate::cache::{touch, used};
use crate::cancel::Cancel;
use crate::tree;

/// The folder of images, below that of the runner.
const IMAGES: &str = "images";

/// Names below `images/<id>`. Unpacking makes the first.
pub(super) const TREE: &str = "tree";
const SIZE: &str = "size";

/// How names end that are not an image's.
const INCOMPLETE: &str = ".incomplete";
const LOCK: &str = ".lock";

/// Between two looks whether others are done with an image.
const POLL: Duration = Duration::from_millis(50);

/// Characters of a container's name that tell folders of runners apart, and images.
const CONTAINER_PART: usize = 16;

/// The images that are unpacked, or will be.
#[derive(Debug)]
pub(super) struct Shelf {
    folder: PathBuf,
}

/// What is to be done with an image. The lock is held until the file is dropped.
pub(super) enum Turn {
    /// It is there, and stays.
    Ready(File),
    /// It is not there, and nobody else makes it.
    Make(File),
}

/// Whether anything was ever unpacked.
pub(super) fn exists(state: &Path) -> bool {
    state.join(IMAGES).exists()
}

impl Shelf {
    pub(super) fn open(state: &Path) -> Result<Self, ImageError> {
        let folder = state.join(IMAGES);
        private::make_folder(&folder).map_err(ImageError::files(&folder))?;
        let folder = folder.canonicalize().map_err(ImageError::files(&folder))?;
        Ok(Self { folder })
    }

    fn entry(&self, id: &str) -> PathBuf {
        self.folder.join(id)
    }

    fn incomplete_entry(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}{INCOMPLETE}"))
    }

    pub(super) fn tree(&self, id: &str) -> PathBuf {
        self.entry(id).join(TREE)
    }

    /// The name of Podman's container for an image while it is unpacked here.
    pub(super) fn container(&self, id: &str) -> String {
        let folder = self.folder.as_os_str().as_encoded_bytes();
        let here = hex::encode(Sha256::digest(folder));
        let part = |text: &str| text.chars().take(CONTAINER_PART).collect::<String>();
        format!("hostd-{}-{}", part(&here), part(id))
    }

    /// Waits until an image is there, or until nobody else makes it.
    pub(super) fn turn(
        &self,
        id: &str,
        cancel: &Cancel,
        until: Instant,
    ) -> Result<Turn, ImageError> {
        loop {
            if let Some(lock) = self.lock(id, FlockOperation::NonBlockingLockShared)?
                && self.is_whole(id)
            {
                // One that seems older than it is goes earlier: nothing worse.
                let _ = touch(&self.entry(id).join(SIZE));
                return Ok(Turn::Ready(lock));
            }
            if let Some(lock) = self.alone(id)?
                && !self.is_whole(id)
            {
                return Ok(Turn::Make(lock));
            }
            if cancel.wait_until(until.min(Instant::now() + POLL)) {
                return Err(ImageError::Cancelled);
            }
            if until <= Instant::now() {
                return Err(ImageError::TimedOut);
            }
            thread::yield_now();
        }
    }

    /// Locks an image against all others; none if somebody has it.
    pub(super) fn alone(&self, id: &str) -> Result<Option<File>, ImageError> {
        self.lock(id, FlockOperation::NonBlockingLockExclusive)
    }

    fn lock(&self, id: &str, how: FlockOperation) -> Result<Option<File>, ImageError> {
        let path = self.folder.join(format!("{id}{LOCK}"));
        let lock = || {
            let file = private::lock_file(&path)?;
            match flock(&file, how) {
                // Whoever had it may have removed it: then another file has its name.
                Ok(()) if fstat(&file)?.st_nlink == 0 => Ok(None),
                Ok(()) => Ok(Some(file)),
                Err(Errno::WOULDBLOCK) => Ok(None),
                Err(error) => Err(io::Error::from(error)),
            }
        };
        lock().map_err(ImageError::files(&path))
    }

    fn is_whole(&self, id: &str) -> bool {
        self.entry(id).join(SIZE).exists()
    }

    pub(super) fn is_incomplete(&self, id: &str) -> bool {
        self.incomplete_entry(id).symlink_metadata().is_ok()
    }

    /// Makes the folder that an image is unpacked to.
    pub(super) fn begin(&self, id: &str) -> Result<PathBuf, ImageError> {
        let folder = self.incomplete_entry(id);
        private::make_folder(&folder).map_err(ImageError::files(&folder))?;
        Ok(folder)
    }

    /// From now on the image is there.
    pub(super) fn finish(&self, id: &str, bytes: u64) -> Result<(), ImageError> {
        let (incomplete, entry) = (self.incomplete_entry(id), self.entry(id));
        let finish = || {
            private::write_file(&incomplete.join(SIZE), bytes.to_string().as_bytes())?;
            // After a loss of power, what has its name is there.
            syncfs(File::open(&incomplete)?)?;
            tree::remove(&entry)?;
            fs::rename(&incomplete, &entry)
        };
        finish().map_err(ImageError::files(&incomplete))
    }

    /// Removes what is incomplete of an image.
    pub(super) fn clear(&self, id: &str) -> Result<(), ImageError> {
        let incomplete = self.incomplete_entry(id);
        tree::remove(&incomplete).map_err(ImageError::files(&incomplete))
    }

    /// Ids of images of which something is incomplete.
    pub(super) fn incomplete(&self) -> Result<Vec<String>, ImageError> {
        let names = self.names()?;
        let ids = names
            .iter()
            .filter_map(|name| name.strip_suffix(INCOMPLETE));
        Ok(ids.map(str::to_owned).collect())
    }

    fn names(&self) -> Result<Vec<String>, ImageError> {
        let entries = fs::read_dir(&self.folder).map_err(ImageError::files(&self.folder))?;
        let names = entries.flatten().map(|entry| entry.file_name());
        Ok(names.filter_map(|name| name.into_string().ok()).collect())
    }

    /// Removes what was used longest ago, and is not in use, until the rest is within bounds.
    pub(super) fn make_room(&self, bytes_max: u64) -> Result<(), ImageError> {
        let mut kept: Vec<_> = self
            .names()?
            .into_iter()
            .filter_map(|id| {
                let (time, bytes) = used(&self.entry(&id))?;
                Some((time, bytes, id))
            })
            .collect();
        kept.sort();
        let mut bytes: u64 = kept.iter().map(|(_, bytes, _)| bytes).sum();
        for (_, size, id) in kept {
            if bytes <= bytes_max {
                break;
            }
            if let Some(_lock) = self.alone(&id)? {
                self.remove(&id)?;
                bytes -= size;
            }
        }
        Ok(())
    }

    /// Removes an image that was locked against all others.
    fn remove(&self, id: &str) -> Result<(), ImageError> {
        let (entry, incomplete) = (self.entry(id), self.incomplete_entry(id));
        let remove = || {
            tree::remove(&incomplete)?;
            // Half of an image has never its name.
            fs::rename(&entry, &incomplete)?;
            tree::remove(&incomplete)?;
            fs::remove_file(self.folder.join(format!("{id}{LOCK}")))
        };
        remove().map_err(ImageError::files(&entry))
    }
}
