//! Space on the disk of the data folder: who may still write, and a reserve that keeps small writes
//! working when big ones have filled the disk.
//!
//! ```text
//! free space   2 x floor        floor              reserve_mib        0
//!     ample ──────┤ low: warned ──┤ tight: captures, ──┤ reserve: /readyz 503 ──┤ the reserve file is given up:
//!                                   uploads 507                                    leases, sign-in, deleting go on
//! ```
//!
//! A check is a system call that touches no disk, so it is made before every big write, and by
//! [`watch`] in between.

use std::error::Error;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use rustix::fs::{FallocateFlags, fallocate, statvfs};
use tracing::{info, warn};

use crate::config::DiskConfig;
use crate::pins::Pins;
use crate::private;

/// File in the data folder that only takes up space, to be removed when there is no other.
pub(crate) const RESERVE_FILE: &str = "reserve";

/// Time between checks while nothing big is written.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// The default floor: this part of the disk, at most [`FLOOR_BYTES_AUTO_MAX`].
const FLOOR_PART_AUTO: u64 = 10;

/// A tenth of a big disk is more than hostd needs to stay out of trouble.
const FLOOR_BYTES_AUTO_MAX: u64 = 1 << 30;

/// Below the floor times this much, the log warns.
const LOW_FLOORS: u64 = 2;

/// The reserve is created when this many times its size is free: one that must be removed at once
/// helps nobody.
const RESERVES_FREE_MIN: u64 = 2;

/// Zeros written at once on a file system that cannot allocate without writing.
const ZEROS_BYTES: usize = 1 << 20;

/// Files that must stay free: this part of all that the disk can have, at most [`FREE_FILES_MAX`].
const FREE_FILES_PART: u64 = 10;

/// A tenth of a big disk's files is more than hostd needs to stay out of trouble.
const FREE_FILES_MAX: u64 = 50_000;

/// Size and free space of a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Room {
    pub free_bytes: u64,
    pub total_bytes: u64,
    pub free_files: u64,
    /// 0: as many as there is room for.
    pub total_files: u64,
}

/// How much may still be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    Ample,
    /// Getting low: the log warns.
    Low,
    /// Big writes are refused.
    Tight,
    /// Only the reserve is left, or it is in use.
    Reserve,
}

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    pub state: State,
    pub free_bytes: u64,
    /// With less than this free, big writes are refused.
    pub floor_bytes: u64,
    /// Fewer files are free than must be; then they are refused, too.
    pub lacks_files: bool,
}

/// Why a write is refused, inside an [`io::Error`] of the kind `StorageFull`.
#[derive(Debug, thiserror::Error)]
#[error("leave {floor_bytes} bytes of the disk free (disk.floor_mib); {free_bytes} are")]
struct BelowFloor {
    floor_bytes: u64,
    free_bytes: u64,
}

/// Likewise.
#[derive(Debug, thiserror::Error)]
#[error("make a file: the disk can have hardly any more of them; remove files from it")]
struct FewFiles;

type Probe = Box<dyn Fn(&Path) -> io::Result<Room> + Send + Sync>;

/// The disk that holds the data folder.
pub struct Space {
    dir: PathBuf,
    floor_bytes: Option<u64>,
    reserve_bytes: u64,
    probe: Probe,
    /// Keeps files in place while a backup copies them.
    pub pins: Pins,
    /// The state logged last.
    told: Mutex<State>,
}

impl std::fmt::Debug for Space {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Space")
            .field("dir", &self.dir)
            .finish_non_exhaustive()
    }
}

impl Space {
    /// The disk of the data folder `dir`; creates the reserve if there is space.
    #[must_use]
    pub fn open(dir: &Path, config: &DiskConfig) -> Arc<Self> {
        Self::with_probe(dir, config, Box::new(room))
    }

    fn with_probe(dir: &Path, config: &DiskConfig, probe: Probe) -> Arc<Self> {
        let space = Self {
            dir: dir.to_owned(),
            floor_bytes: (config.floor_mib > 0).then(|| u64::from(config.floor_mib) << 20),
            reserve_bytes: u64::from(config.reserve_mib) << 20,
            probe,
            pins: Pins::default(),
            told: Mutex::new(State::Ample),
        };
        space.tend();
        Arc::new(space)
    }

    /// A disk that is never full, for reading only and for tests.
    #[must_use]
    pub fn boundless() -> Arc<Self> {
        let config = DiskConfig {
            floor_mib: 1,
            reserve_mib: 0,
        };
        let room = Room {
            free_bytes: 1 << 50,
            total_bytes: 1 << 50,
            free_files: 0,
            total_files: 0,
        };
        Self::with_probe(Path::new("."), &config, Box::new(move |_| Ok(room)))
    }

    /// Check the disk now.
    #[must_use]
    pub fn look(&self) -> Look {
        // A disk that cannot be queried counts as full: writing to it would fail too.
        let room = (self.probe)(&self.dir).unwrap_or(Room {
            free_bytes: 0,
            total_bytes: 0,
            free_files: 0,
            total_files: 0,
        });
        let floor_bytes = self.floor(room).max(self.reserve_bytes);
        let free_bytes = room.free_bytes;
        let lacks_files = room.free_files < files_floor(room.total_files);
        let state = if free_bytes < self.reserve_bytes || !self.has_reserve() {
            State::Reserve
        } else if free_bytes < floor_bytes || lacks_files {
            State::Tight
        } else if free_bytes < floor_bytes.saturating_mul(LOW_FLOORS) {
            State::Low
        } else {
            State::Ample
        };
        Look {
            state,
            free_bytes,
            floor_bytes,
            lacks_files,
        }
    }

    /// Whether something big, of at least `bytes`, may be written.
    ///
    /// # Errors
    /// It may not: `StorageFull`.
    pub fn admit(&self, bytes: u64) -> io::Result<()> {
        let look = self.look();
        self.tell(look);
        if look.lacks_files {
            return Err(io::Error::new(ErrorKind::StorageFull, FewFiles));
        }
        if look.free_bytes >= look.floor_bytes.saturating_add(bytes) {
            return Ok(());
        }
        let refusal = BelowFloor {
            floor_bytes: look.floor_bytes,
            free_bytes: look.free_bytes,
        };
        Err(io::Error::new(ErrorKind::StorageFull, refusal))
    }

    /// Create the reserve if it is gone and there is space again, and log what has changed.
    fn tend(&self) {
        if !self.has_reserve() && self.has_room_for_reserve() {
            match self.lay_by() {
                Ok(()) => info!(bytes = self.reserve_bytes, "laid disk space by"),
                Err(error) => warn!(%error, "failed to lay disk space by"),
            }
        }
        self.tell(self.look());
    }

    fn floor(&self, room: Room) -> u64 {
        let auto = (room.total_bytes / FLOOR_PART_AUTO).min(FLOOR_BYTES_AUTO_MAX);
        self.floor_bytes.unwrap_or(auto)
    }

    fn has_reserve(&self) -> bool {
        self.reserve_bytes == 0
            || fs::metadata(self.dir.join(RESERVE_FILE))
                .is_ok_and(|meta| meta.len() == self.reserve_bytes)
    }

    fn has_room_for_reserve(&self) -> bool {
        let wanted = self.reserve_bytes.saturating_mul(RESERVES_FREE_MIN);
        (self.probe)(&self.dir).is_ok_and(|room| room.free_bytes >= wanted)
    }

    fn lay_by(&self) -> io::Result<()> {
        let path = self.dir.join(RESERVE_FILE);
        give_up_reserve(&self.dir);
        let mut file = private::make_file(&path)?;
        let laid = match fallocate(&file, FallocateFlags::empty(), 0, self.reserve_bytes) {
            Ok(()) => Ok(()),
            Err(rustix::io::Errno::OPNOTSUPP) => fill(&mut file, self.reserve_bytes),
            Err(error) => Err(error.into()),
        };
        if laid.is_err() {
            give_up_reserve(&self.dir);
        }
        laid
    }

    /// Log each change once.
    fn tell(&self, look: Look) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if *told == look.state {
            return;
        }
        let Look {
            free_bytes,
            floor_bytes,
            ..
        } = look;
        match look.state {
            State::Ample => info!(free_bytes, "there is room on the disk again"),
            State::Low => warn!(free_bytes, floor_bytes, "the disk is getting full"),
            State::Tight => warn!(
                free_bytes,
                floor_bytes, "the disk is nearly full; captures and uploads are refused"
            ),
            State::Reserve => warn!(
                free_bytes,
                "the disk is full; leases, sign-in and deleting go on, nothing else is certain to"
            ),
        }
        *told = look.state;
    }
}

/// Files that must stay free on a disk that can have so many, for everybody who fills it. 0 if it does not count them.
#[must_use]
pub fn files_floor(total: u64) -> u64 {
    (total / FREE_FILES_PART).min(FREE_FILES_MAX)
}

/// Remove the reserve of the data folder `dir`; returns whether there was one.
pub fn give_up_reserve(dir: &Path) -> bool {
    fs::remove_file(dir.join(RESERVE_FILE)).is_ok()
}

/// Whether the cause of an error is a full disk.
#[must_use]
pub fn is_full(error: &(dyn Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        let own = error.downcast_ref::<io::Error>();
        let shared = || error.downcast_ref::<Arc<io::Error>>().map(AsRef::as_ref);
        if own.or_else(shared).is_some_and(|e| is_full_kind(e.kind())) {
            return true;
        }
        next = error.source();
    }
    false
}

/// Whether an I/O error of this kind means a full disk.
#[must_use]
pub fn is_full_kind(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

/// Check periodically as long as `space` is in use.
pub async fn watch(space: Weak<Space>) {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let Some(space) = space.upgrade() else {
            return;
        };
        // Creating the reserve writes if the file system cannot allocate.
        let tended = tokio::task::spawn_blocking(move || space.tend());
        if let Err(error) = tended.await {
            warn!(%error, "failed to look after the disk space");
        }
    }
}

fn room(dir: &Path) -> io::Result<Room> {
    let found = statvfs(dir)?;
    Ok(Room {
        free_bytes: found.f_bavail.saturating_mul(found.f_frsize),
        total_bytes: found.f_blocks.saturating_mul(found.f_frsize),
        free_files: found.f_favail,
        total_files: found.f_files,
    })
}

fn fill(file: &mut fs::File, bytes: u64) -> io::Result<()> {
    let zeros = vec![0; ZEROS_BYTES];
    let mut left = bytes;
    while left > 0 {
        let part = left.min(ZEROS_BYTES as u64);
        let end = usize::try_from(part).unwrap_or(ZEROS_BYTES);
        file.write_all(&zeros[..end])?;
        left -= part;
    }
    file.sync_all()
}

#[cfg(test)]
mod tests;
