//! Opens the database file. A damaged file is refused, with advice, and left as it is; it is never
//! silently repaired, mistaken for a first start, or a reason to panic.
//!
//! redb verifies the checksums of its pages only on request. So the whole file is checked first,
//! through a [`View`] that writes nothing to it, and then opened for use.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use redb::{DatabaseError, ReadableDatabase, StorageError};
use tracing::info;

use super::database::{Opener, builder};
use super::error::StoreError;
use super::view::View;
use super::{compaction, schema, seal};
use base::{private, space};

/// Owner only: the file holds the server's private keys.
const FILE_MODE: u32 = 0o600;

/// A file up to this size is checked completely at every start, at 300 to 500 MB/s; a bigger one only if it was
/// not closed cleanly (redb does that itself), and by `hostd check`.
const CHECKED_BYTES_MAX: u64 = 1 << 30;

/// Page cache while a file is checked.
const CHECK_CACHE_BYTES: usize = 16 << 20;

/// How long a lock may outlive a server that was killed: a process that it was just starting still has its files then.
const LOCK_WAIT: Duration = Duration::from_millis(500);

/// Between two tries to get the lock.
const LOCK_EVERY: Duration = Duration::from_millis(10);

/// Suffix of the file's name while a new one is made.
const NEW_SUFFIX: &str = "new-";

/// How much of a file is checked before it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// All, unless that takes long.
    Start,
    All,
}

/// Opens the file at `path`, or makes it if there is none. It is checked the first time only;
/// reopening a good database after the storage failed skips the check, to resume quickly.
pub(super) fn file_opener(path: PathBuf, cache_bytes: usize) -> Opener {
    let was_opened = AtomicBool::new(false);
    Box::new(move || {
        let is_first = !was_opened.load(Ordering::Relaxed);
        if is_first {
            make_if_missing(&path)?;
        }
        let file = lock(&path)?;
        if is_first {
            clear_unfinished(&path);
            drop(look(&file, &path, Extent::Start)?);
        }
        let database = guarded(&path, || open(file, &path, cache_bytes, is_first))?;
        was_opened.store(true, Ordering::Relaxed);
        Ok(database)
    })
}

fn open(
    file: File,
    path: &Path,
    cache_bytes: usize,
    is_first: bool,
) -> Result<redb::Database, StoreError> {
    let file_bytes = file.metadata().map_or(0, |m| m.len());
    let mut builder = builder(cache_bytes);
    if is_first {
        builder.set_repair_callback(announce_once());
    }
    let opened = builder.create_file(file);
    let mut database = opened.map_err(|error| refusal(path, error))?;
    compaction::compact_if_sparse(&mut database, file_bytes)?;
    Ok(database)
}

fn announce_once() -> impl Fn(&mut redb::RepairSession) + 'static {
    let told = AtomicBool::new(false);
    move |_| {
        if !told.swap(true, Ordering::Relaxed) {
            info!("the store was not closed in order; recovering its last commit");
        }
    }
}

/// The database in the file at `path`, for reading, checked as far as `extent` says. Nothing in the
/// file changes.
///
/// # Errors
/// It is damaged, in use, or cannot be read.
pub(super) fn look_at(path: &Path, extent: Extent) -> Result<redb::Database, StoreError> {
    let file = lock(path)?;
    look(&file, path, extent)
}

fn look(file: &File, path: &Path, extent: Extent) -> Result<redb::Database, StoreError> {
    let failed = |source: std::io::Error| StoreError::OpenFile {
        path: path.to_owned(),
        source: source.into(),
    };
    let bytes = file.metadata().map_err(failed)?.len();
    if bytes == 0 {
        return Err(damaged(path, "it is empty"));
    }
    let view = View::new(file.try_clone().map_err(failed)?).map_err(failed)?;
    guarded(path, || {
        let opened = builder(CHECK_CACHE_BYTES).create_with_backend(view);
        let mut database = opened.map_err(|error| refusal(path, error))?;
        if extent == Extent::All || bytes <= CHECKED_BYTES_MAX {
            match database.check_integrity() {
                Ok(true) => {}
                Ok(false) => return Err(damaged(path, "its pages do not agree")),
                Err(error) => return Err(refusal(path, error)),
            }
        }
        let version = schema::version(&database)?;
        if version > schema::SCHEMA_VERSION {
            return Err(StoreError::NewerSchema { found: version });
        }
        if version >= schema::SEALED_SINCE {
            let txn = database.begin_read().map_err(StoreError::from_redb)?;
            if let Some(what) = seal::compare(&txn)? {
                return Err(damaged(path, &what));
            }
        }
        Ok(database)
    })
}

/// Make the file completely under another name first, so that an existing file is never half made.
fn make_if_missing(path: &Path) -> Result<(), StoreError> {
    let failed = |source: std::io::Error| StoreError::OpenFile {
        path: path.to_owned(),
        source: source.into(),
    };
    match fs::symlink_metadata(path) {
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    let part = beside(path, &format!("{NEW_SUFFIX}{}", std::process::id()));
    let _ = fs::remove_file(&part);
    let made = private::make_file(&part).map_err(failed)?;
    let result = make(made, path).and_then(|()| {
        // If another process was faster, there is a file to open.
        match fs::hard_link(&part, path) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                fs::rename(&part, path).map_err(failed)
            }
            _ => Ok(()),
        }
    });
    let _ = fs::remove_file(&part);
    result?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(failed)
}

fn make(file: File, path: &Path) -> Result<(), StoreError> {
    let opened = builder(CHECK_CACHE_BYTES).create_file(file);
    let database = opened.map_err(|error| refusal(path, error))?;
    schema::migrate(&database)
}

/// Remove leftovers of interrupted first starts.
fn clear_unfinished(path: &Path) {
    let start = beside(path, NEW_SUFFIX);
    let entries = path.parent().and_then(|folder| fs::read_dir(folder).ok());
    for entry in entries.into_iter().flatten().flatten() {
        let is_unfinished = start.file_name().is_some_and(|start| {
            let name = entry.file_name();
            name.as_encoded_bytes()
                .starts_with(start.as_encoded_bytes())
        });
        if is_unfinished {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    name.into()
}

/// Open the file and lock it for this process alone. redb takes the same lock again.
fn lock(path: &Path) -> Result<File, StoreError> {
    let failed = |source: std::io::Error| StoreError::OpenFile {
        path: path.to_owned(),
        source: source.into(),
    };
    let opened = OpenOptions::new()
        .read(true)
        .write(true)
        .mode(FILE_MODE)
        .open(path);
    let file = opened.map_err(failed)?;
    let until = Instant::now() + LOCK_WAIT;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if Instant::now() < until => thread::sleep(LOCK_EVERY),
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::Locked {
                    path: path.to_owned(),
                });
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
    }
}

/// Classify why a file cannot be opened.
fn refusal(path: &Path, error: DatabaseError) -> StoreError {
    match error {
        DatabaseError::DatabaseAlreadyOpen => StoreError::Locked {
            path: path.to_owned(),
        },
        DatabaseError::Storage(StorageError::Io(e)) if space::is_full_kind(e.kind()) => {
            StoreError::from_redb(StorageError::Io(e))
        }
        DatabaseError::Storage(StorageError::Io(e)) if !tells_of_damage(e.kind()) => {
            StoreError::OpenFile {
                path: path.to_owned(),
                source: e.into(),
            }
        }
        DatabaseError::UpgradeRequired(_) => StoreError::Open {
            path: path.to_owned(),
            source: Arc::new(error.into()),
        },
        other => damaged(path, &other.to_string()),
    }
}

/// redb reports these for a file that is too short or not its own.
fn tells_of_damage(kind: std::io::ErrorKind) -> bool {
    use std::io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    matches!(kind, InvalidData | InvalidInput | UnexpectedEof)
}

fn damaged(path: &Path, what: &str) -> StoreError {
    StoreError::Damaged {
        path: path.to_owned(),
        what: what.to_owned(),
    }
}

/// Run code that may panic on a damaged file. The error already reports it, so the panic prints
/// nothing.
fn guarded<T>(path: &Path, f: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    static QUIET: Mutex<()> = Mutex::new(());
    let one = QUIET.lock().unwrap_or_else(PoisonError::into_inner);
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let result = catch_unwind(AssertUnwindSafe(f));
    std::panic::set_hook(hook);
    drop(one);
    match result {
        Ok(Err(StoreError::Corrupt { source })) => Err(damaged(path, &source.to_string())),
        Ok(result) => result,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            let text = text.and_then(|text| text.lines().next()).unwrap_or("?");
            Err(damaged(path, &format!("reading it failed: {text}")))
        }
    }
}
