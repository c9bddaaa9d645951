//! Copies a data folder while it is in use, and restores it from the copy.
//!
//! ```text
//! one read transaction ──> hostd.redb      table by table, then checked whole
//! pinned files         ──> captures/ blobs/ jobs/ plugins/packages/ hard links, or copies on another disk; hashed
//!                          manifest.json    what there is, with SHA-256
//! ```
//!
//! A backup is made as `incomplete-…` and renamed last, so one with its final name is complete. It
//! has the layout of a data folder.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use base::{clock, folder, id, private};
use lab::captures::files;
use store::captures::Status;
use store::jobs::{Found, Unreadable};
use store::{self, Snapshot, StoreError};

pub use sealed::Sealed;

pub mod check;
pub mod restore;
mod sealed;

/// Name of the list of what a backup holds.
pub const MANIFEST: &str = "manifest.json";

/// Layout of the manifest that this program writes and reads.
const FORMAT: u32 = 1;

/// Bytes read at once while hashing a file.
const READ_BYTES: usize = 256 << 10;

/// What a backup holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    pub format: u32,
    /// Version of hostd that made it.
    pub hostd: String,
    pub schema: u32,
    /// RFC 3339.
    pub created_at: String,
    /// Entries of each table.
    pub tables: BTreeMap<String, u64>,
    pub files: Vec<Entry>,
    /// Files that records name but that do not exist.
    pub missing: Vec<String>,
}

/// A file of a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Inside the backup, `/` between its parts.
    pub path: String,
    pub size_bytes: u64,
    pub sha256: String,
}

/// What was backed up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    pub files: u64,
    pub bytes: u64,
    pub missing: u64,
    #[serde(flatten)]
    pub sealed: Sealed,
}

/// Why a backup or a restore failed.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    #[error("use the folder {}: {why}", path.display())]
    Folder { path: PathBuf, why: &'static str },
    #[error("read or write {}", path.display())]
    File {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("read {}: it is not what the backup's list says; the backup is damaged", path.display())]
    Differs { path: PathBuf },
    #[error("read {}: {why}", path.display())]
    Manifest { path: PathBuf, why: String },
    #[error("finish the backup: the server is stopping")]
    Stopped,
    #[error(transparent)]
    Private(#[from] private::PrivateError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A file that a record names.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Named {
    /// Inside the data folder.
    path: String,
    /// The hash that it must have, if the record says so.
    sha256: Option<String>,
    /// Whether it may be absent.
    is_optional: bool,
}

/// A folder that is being filled. Dropping it before it is renamed removes it.
#[derive(Debug)]
struct Work {
    path: PathBuf,
    is_whole: bool,
}

impl Drop for Work {
    fn drop(&mut self) {
        if !self.is_whole {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> BackupError + '_ {
    |source| BackupError::File {
        path: path.to_owned(),
        source,
    }
}

/// Copy what `snapshot` shows of the data folder `data` to the new folder `target`. The caller must
/// ensure that no file that the snapshot names is removed meanwhile.
///
/// # Errors
/// The target is not empty, the disk or the store fails, or `stop` was set.
pub fn take(
    data: &Path,
    snapshot: &Snapshot,
    target: &Path,
    stop: &AtomicBool,
) -> Result<Report, BackupError> {
    let mut work = begin(data, target)?;
    let tables = snapshot.copy_to(&work.path.join(folder::STORE))?;
    // Check the copy: it is the copy that must find its files.
    let copy = store::look(&work.path.join(folder::STORE))?;
    let mut manifest = Manifest {
        format: FORMAT,
        hostd: env!("CARGO_PKG_VERSION").to_owned(),
        schema: store::SCHEMA_VERSION,
        created_at: clock::Clock::system().now_text(),
        tables,
        files: vec![entry(&work.path, folder::STORE)?],
        missing: Vec::new(),
    };
    for file in named(&copy.snapshot()?)? {
        if stop.load(Ordering::Relaxed) {
            return Err(BackupError::Stopped);
        }
        if !bring(data, &work.path, &file.path)? {
            if !file.is_optional {
                manifest.missing.push(file.path);
            }
            continue;
        }
        let entry = entry(&work.path, &file.path)?;
        if file.sha256.is_some_and(|wanted| wanted != entry.sha256) {
            let path = data.join(&entry.path);
            return Err(BackupError::Differs { path });
        }
        manifest.files.push(entry);
    }
    drop(copy);
    write_manifest(&work.path, &manifest)?;
    sync_folders(&work.path)?;
    fs::rename(&work.path, target).map_err(failed(target))?;
    work.is_whole = true;
    sync_parent(target)?;
    Ok(Report {
        files: manifest.files.len() as u64,
        bytes: manifest.files.iter().map(|file| file.size_bytes).sum(),
        missing: manifest.missing.len() as u64,
        sealed: Sealed::of(&manifest),
    })
}

fn begin(data: &Path, target: &Path) -> Result<Work, BackupError> {
    let refused = |why| BackupError::Folder {
        path: target.to_owned(),
        why,
    };
    let (Some(parent), Some(name)) = (target.parent(), target.file_name()) else {
        return Err(refused("a backup needs a folder of its own"));
    };
    let real = |path: &Path| path.canonicalize().map_err(failed(path));
    if real(parent)?.starts_with(real(data)?) {
        return Err(refused("it is inside the data folder"));
    }
    if !is_empty(target)? {
        return Err(refused("it is not empty; name one that is not there yet"));
    }
    let mut incomplete = std::ffi::OsString::from(folder::INCOMPLETE);
    incomplete.push(name);
    incomplete.push(format!("-{}", id::request_id()));
    let path = parent.join(incomplete);
    private::make_folder(&path).map_err(failed(&path))?;
    Ok(Work {
        path,
        is_whole: false,
    })
}

/// Whether `path` does not exist or is an empty folder.
fn is_empty(path: &Path) -> Result<bool, BackupError> {
    match fs::read_dir(path) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(false),
        Err(error) => Err(failed(path)(error)),
    }
}

/// Every file that a record of `snapshot` names.
fn named(snapshot: &Snapshot) -> Result<Vec<Named>, StoreError> {
    let mut found = Vec::new();
    store::captures::each(snapshot, |record| {
        if record.status != Status::Done {
            return;
        }
        // A pyramid is made again where it is missing.
        for (kind, is_logic, is_optional) in [
            (files::LOGIC, true, false),
            (files::ANALOG, false, false),
            (files::LOGIC_PYRAMID, true, true),
            (files::ANALOG_PYRAMID, false, true),
        ] {
            if record.channels.iter().any(|c| c.la.is_some() == is_logic) {
                found.push(Named {
                    path: format!("{}/{}.{kind}", folder::CAPTURES, record.id),
                    sha256: None,
                    is_optional,
                });
            }
        }
    })?;
    let mut wanted: Vec<_> = store::blobs::wanted(snapshot)?.into_iter().collect();
    wanted.sort_unstable();
    found.extend(wanted.into_iter().map(|sha256| Named {
        path: format!("{}/{}/{sha256}", folder::BLOBS, &sha256[..2]),
        sha256: Some(sha256),
        is_optional: false,
    }));
    store::jobs::each(snapshot, |job| found.extend(named_by_job(&job)))?;
    let components = store::plugins::components(snapshot)?;
    found.extend(components.into_iter().map(|sha256| Named {
        path: format!("{}/{sha256}.wasm", folder::PLUGIN_PACKAGES),
        sha256: Some(sha256),
        is_optional: false,
    }));
    Ok(found)
}

/// The files of a job: its pipeline, and what its attempts that have ended left. One that was cut off left no end. Of a
/// job that cannot be read, whatever there may be.
fn named_by_job(found: &Found) -> Vec<Named> {
    let job = match found {
        Found::Job(job) => job,
        Found::Unreadable(job) => return named_by_unreadable(job),
    };
    let named = |path: String, is_optional| Named {
        path: format!("{}/{}/{path}", folder::JOBS, job.id),
        sha256: None,
        is_optional,
    };
    let mut found = vec![named(dispatch::DEFINITION.to_owned(), false)];
    let ended = job.attempts.iter().filter(|attempt| attempt.end.is_some());
    for attempt in ended {
        let left = dispatch::ATTEMPT_FILES.iter();
        found.extend(left.map(|file| named(format!("{}/{file}", attempt.number), true)));
    }
    found
}

fn named_by_unreadable(job: &Unreadable) -> Vec<Named> {
    let named = |path: String| Named {
        path: format!("{}/{}/{path}", folder::JOBS, job.id),
        sha256: None,
        is_optional: true,
    };
    let attempts = job.stored["attempts"].as_array().map_or(0, Vec::len);
    let left = (1..=attempts).flat_map(|number| {
        let files = dispatch::ATTEMPT_FILES.iter();
        files.map(move |file| format!("{number}/{file}"))
    });
    let pipeline = dispatch::DEFINITION.to_owned();
    left.chain([pipeline]).map(named).collect()
}

/// Link or copy the file `path` of the folder `from` into the folder `to`; returns whether there is
/// one.
fn bring(from: &Path, to: &Path, path: &str) -> Result<bool, BackupError> {
    let (source, target) = (from.join(path), to.join(path));
    if !source.is_file() {
        return Ok(false);
    }
    make_parent(&target)?;
    // Files never change once they have their name, so both folders may share one.
    if fs::hard_link(&source, &target).is_err() {
        copy(&source, &target)?;
    }
    Ok(true)
}

fn make_parent(path: &Path) -> Result<(), BackupError> {
    let folder = path.parent().unwrap_or(path);
    private::make_folder(folder).map_err(failed(folder))
}

fn copy(source: &Path, target: &Path) -> Result<(), BackupError> {
    let mut from = File::open(source).map_err(failed(source))?;
    let mut to = private::make_file(target).map_err(failed(target))?;
    io::copy(&mut from, &mut to).map_err(failed(target))?;
    to.sync_all().map_err(failed(target))
}

/// Size and hash of the file `path` of a folder, read back from it.
fn entry(folder: &Path, path: &str) -> Result<Entry, BackupError> {
    let whole = folder.join(path);
    let (size_bytes, sha256) = hash(&whole).map_err(failed(&whole))?;
    Ok(Entry {
        path: path.to_owned(),
        size_bytes,
        sha256,
    })
}

fn hash(path: &Path) -> io::Result<(u64, String)> {
    let mut file = File::open(path)?;
    let (mut hash, mut size_bytes) = (Sha256::new(), 0);
    let mut part = vec![0; READ_BYTES];
    loop {
        let len = file.read(&mut part)?;
        if len == 0 {
            return Ok((size_bytes, hex::encode(hash.finalize())));
        }
        hash.update(&part[..len]);
        size_bytes += len as u64;
    }
}

fn write_manifest(folder: &Path, manifest: &Manifest) -> Result<(), BackupError> {
    let path = folder.join(MANIFEST);
    let text = serde_json::to_vec_pretty(manifest).expect("names and numbers are JSON");
    let mut file = private::make_file(&path).map_err(failed(&path))?;
    let written = file.write_all(&text).and_then(|()| file.sync_all());
    written.map_err(failed(&path))
}

/// # Errors
/// It does not exist, is not a manifest, or is newer than this program.
fn read_manifest(folder: &Path) -> Result<Manifest, BackupError> {
    let path = folder.join(MANIFEST);
    let bytes = fs::read(&path).map_err(failed(&path))?;
    let refused = |why: String| BackupError::Manifest {
        path: path.clone(),
        why,
    };
    let parsed: Result<Manifest, _> = serde_json::from_slice(&bytes);
    let manifest =
        parsed.map_err(|error| refused(format!("it is no list of a backup: {error}")))?;
    if manifest.format > FORMAT || manifest.schema > store::SCHEMA_VERSION {
        let by = &manifest.hostd;
        return Err(refused(format!(
            "hostd {by} made it, which is newer than this one; use that"
        )));
    }
    let is_plain = |path: &str| {
        let mut parts = Path::new(path).components();
        parts.all(|part| matches!(part, std::path::Component::Normal(_)))
    };
    if let Some(file) = manifest.files.iter().find(|file| !is_plain(&file.path)) {
        return Err(refused(format!("{} leads out of it", file.path)));
    }
    Ok(manifest)
}

fn sync_folders(folder: &Path) -> Result<(), BackupError> {
    for entry in fs::read_dir(folder).map_err(failed(folder))? {
        let path = entry.map_err(failed(folder))?.path();
        if path.is_dir() {
            sync_folders(&path)?;
        }
    }
    sync(folder)
}

fn sync(folder: &Path) -> Result<(), BackupError> {
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(failed(folder))
}

fn sync_parent(path: &Path) -> Result<(), BackupError> {
    path.parent().map_or(Ok(()), sync)
}

#[cfg(test)]
mod tests;
