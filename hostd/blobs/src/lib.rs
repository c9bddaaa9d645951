//! Bulk files, named by the SHA-256 of their contents: `blobs/<first two digits>/<digest>`. Bodies
//! are written to `blobs/staging/` and hashed as they arrive, and moved into place when something
//! refers to them. Files that nothing refers to are removed.
//!
//! What refers to a blob is a record of the store, which this crate does not know.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body::Body;
use sha2::{Digest, Sha256};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::timeout;
use tracing::warn;

use base::id;
use base::pace::{Pace, Paced, TooSlow};
use base::private;
use base::space::Space;

mod form;
mod writer;

pub use form::{FormRules, StageFormError, StagedFile, StagedForm};

use writer::Writer;

/// A file part by part. The sender stops when this is dropped.
pub type FileParts = mpsc::Receiver<io::Result<Bytes>>;

/// Folder of files that are still arriving. No digest has this name.
const STAGING: &str = "staging";

/// Loads written at once, over all files. Each borrows a blocking thread; the other threads stay free
/// for everything else, however many files arrive and however slow the disk is.
const WRITES_MAX: usize = 4;

/// Parts between the disk and a connection that takes a file.
const PARTS_QUEUED: usize = 8;

/// Bytes per part of a file being sent.
const READ_BYTES: usize = 64 << 10;

/// Timeout for a client that takes no part.
const PART_WAIT_MAX: Duration = Duration::from_secs(30);

/// The folder of blobs.
#[derive(Debug)]
pub struct Blobs {
    dir: PathBuf,
    /// Threads for files that arrive.
    threads: Arc<Semaphore>,
    /// Held from moving a blob into place until the reference to it is stored, and while
    /// unreferenced blobs are removed.
    turn: tokio::sync::Mutex<()>,
    space: Arc<Space>,
}

/// A body on disk that nothing refers to. Dropping it removes the file.
#[derive(Debug)]
pub struct Staged {
    path: PathBuf,
    size_bytes: u64,
    sha256: String,
}

/// Why a body did not get to disk.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    #[error("the body is over {limit_bytes} bytes")]
    TooLarge { limit_bytes: u64 },
    #[error(transparent)]
    TooSlow(#[from] TooSlow),
    #[error("the connection broke while the body was read")]
    Broken,
    #[error("write the body to {}", path.display())]
    Write {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// Keeps the order of blobs and their references while it lives.
pub struct Turn<'b>(#[allow(dead_code, reason = "held")] tokio::sync::MutexGuard<'b, ()>);

impl Staged {
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Lower-case hexadecimal.
    #[must_use]
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Where the bytes are.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // Already moved into place, or useless.
        let _ = fs::remove_file(&self.path);
    }
}

impl Blobs {
    /// Make the folder, and remove files that an earlier process had only received in part.
    ///
    /// # Errors
    /// The folder cannot be made or cleared.
    pub fn open(dir: PathBuf, space: Arc<Space>) -> io::Result<Self> {
        let staging = dir.join(STAGING);
        if staging.exists() {
            fs::remove_dir_all(&staging)?;
        }
        private::make_folder(&staging)?;
        Ok(Self {
            dir,
            threads: Arc::new(Semaphore::new(WRITES_MAX)),
            turn: tokio::sync::Mutex::default(),
            space,
        })
    }

    /// Write `body` to disk, at most `limit_bytes`, at this pace.
    ///
    /// # Errors
    /// A limit is exceeded, the connection breaks, or the disk fails.
    pub async fn stage<B>(
        &self,
        body: &mut B,
        limit_bytes: u64,
        pace: Pace,
    ) -> Result<Staged, StageError>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        if body.size_hint().lower() > limit_bytes {
            return Err(StageError::TooLarge { limit_bytes });
        }
        self.admit(body.size_hint().lower())?;
        let mut writer = self.begin();
        let body = Paced::new(body, pace);
        let fed = timeout(pace.wait, feed(body, &mut writer, limit_bytes)).await;
        match fed.unwrap_or_else(|_| Err(pace.exceeded().into())) {
            Ok(()) => writer.finish().await,
            Err(error) => {
                writer.give_up().await;
                Err(error)
            }
        }
    }

    /// Write what is in memory already. Blocks on the disk.
    ///
    /// # Errors
    /// The disk is full or fails.
    pub fn write(&self, bytes: &[u8]) -> io::Result<Staged> {
        self.space.admit(bytes.len() as u64)?;
        // From here on it is removed if it does not come to its end.
        let staged = Staged {
            path: self.dir.join(STAGING).join(id::request_id()),
            size_bytes: bytes.len() as u64,
            sha256: hex::encode(Sha256::digest(bytes)),
        };
        let mut file = private::make_file(&staged.path)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        Ok(staged)
    }

    /// Take over a finished file of the same disk, whose length and digest are known. Blocks on the disk.
    ///
    /// # Errors
    /// The disk.
    pub fn adopt(&self, file: &Path, size_bytes: u64, sha256: &str) -> io::Result<Staged> {
        let path = self.dir.join(STAGING).join(id::request_id());
        fs::rename(file, &path)?;
        let staged = Staged {
            path,
            size_bytes,
            sha256: sha256.to_owned(),
        };
        File::open(&staged.path)?.sync_all()?;
        Ok(staged)
    }

    /// Whether the disk has room for a body of at least `bytes`.
    fn admit(&self, bytes: u64) -> Result<(), StageError> {
        let admitted = self.space.admit(bytes);
        admitted.map_err(|source| StageError::Write {
            path: self.dir.join(STAGING),
            source,
        })
    }

    /// The start of every arriving file.
    fn begin(&self) -> Writer {
        Writer::begin(&self.dir.join(STAGING), self.threads.clone())
    }

    /// Keep blobs and what refers to them in order until the result is dropped.
    pub async fn turn(&self) -> Turn<'_> {
        Turn(self.turn.lock().await)
    }

    /// Move a staged file into place.
    ///
    /// # Errors
    /// The disk.
    pub fn keep(&self, _turn: &Turn<'_>, staged: &Staged) -> io::Result<()> {
        let path = self.path(&staged.sha256);
        if path.exists() {
            return Ok(());
        }
        let folder = path.parent().expect("a blob is inside a folder");
        private::make_folder(folder)?;
        fs::rename(&staged.path, &path)?;
        File::open(folder)?.sync_all()
    }

    /// Remove every blob that is not in `wanted`.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn sweep(&self, _turn: &Turn<'_>, wanted: &HashSet<String>) -> io::Result<()> {
        // A blob that is removed later could be wanted again by then, so leave it to the next
        // sweep.
        if self.space.pins.is_held() {
            return Ok(());
        }
        for folder in fs::read_dir(&self.dir)? {
            let folder = folder?;
            if folder.file_name() == STAGING || !folder.file_type()?.is_dir() {
                continue;
            }
            for blob in fs::read_dir(folder.path())? {
                let blob = blob?;
                if wanted.contains(&*blob.file_name().to_string_lossy()) {
                    continue;
                }
                if let Err(error) = fs::remove_file(blob.path()) {
                    warn!(path = %blob.path().display(), %error, "failed to remove a blob");
                }
            }
        }
        Ok(())
    }

    /// Where the blob with this digest is.
    #[must_use]
    pub fn path(&self, sha256: &str) -> PathBuf {
        self.dir.join(&sha256[..2]).join(sha256)
    }

    /// Stream a blob.
    ///
    /// # Errors
    /// It cannot be opened.
    pub async fn read(&self, sha256: &str) -> io::Result<FileParts> {
        let path = self.path(sha256);
        let opened = tokio::task::spawn_blocking(move || File::open(path));
        let file = opened.await.map_err(io::Error::other)??;
        let (parts, reader) = mpsc::channel(PARTS_QUEUED);
        tokio::spawn(send(file, parts));
        Ok(reader)
    }
}

/// Send a file part by part, until it ends or nobody takes parts any more.
async fn send(mut file: File, parts: mpsc::Sender<io::Result<Bytes>>) {
    loop {
        let read = tokio::task::spawn_blocking(move || {
            let mut part = vec![0; READ_BYTES];
            let len = file.read(&mut part)?;
            part.truncate(len);
            Ok::<_, io::Error>((part, file))
        });
        let part = match read.await.unwrap_or_else(|e| Err(io::Error::other(e))) {
            Ok((part, _)) if part.is_empty() => return,
            Ok((part, rest)) => {
                file = rest;
                Ok(Bytes::from(part))
            }
            Err(error) => {
                // The reader sees that the body was cut.
                drop(parts.try_send(Err(error)));
                return;
            }
        };
        if !matches!(timeout(PART_WAIT_MAX, parts.send(part)).await, Ok(Ok(()))) {
            return;
        }
    }
}

async fn feed<B>(
    mut body: Paced<'_, B>,
    writer: &mut Writer,
    limit_bytes: u64,
) -> Result<(), StageError>
where
    B: Body<Data = Bytes> + Unpin,
{
    let mut left = limit_bytes;
    while let Some(frame) = body.frame().await? {
        let Ok(part) = frame.map_err(|_| StageError::Broken)?.into_data() else {
            continue;
        };
        left = left
            .checked_sub(part.len() as u64)
            .ok_or(StageError::TooLarge { limit_bytes })?;
        writer.push(part).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
