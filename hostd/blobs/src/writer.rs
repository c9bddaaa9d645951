//! One file on its way to disk, hashed as it is written. Arriving bytes are collected, and a
//! blocking thread is borrowed for one load at a time, never while waiting for the network. So a
//! slow sender holds a little memory and no thread.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use super::{StageError, Staged};
use base::{id, private};

/// Bytes written at once. An arriving file holds at most twice that in memory: the load being
/// written, and the next.
const LOAD_BYTES: usize = 256 << 10;

/// A file that is being written. Dropping it abandons the file.
#[derive(Debug)]
pub(super) struct Writer {
    path: PathBuf,
    /// The right to a thread.
    threads: Arc<Semaphore>,
    gathered: Vec<u8>,
    pen: Pen,
}

/// Where the open file is.
#[derive(Debug)]
enum Pen {
    Here(Box<Open>),
    Writing(JoinHandle<io::Result<Box<Open>>>),
    /// Lost in a failure that was already reported.
    Lost,
}

/// A file that is open, or will be opened with its first load. Dropping it removes the file.
#[derive(Debug)]
struct Open {
    file: Option<File>,
    hash: Sha256,
    staged: Staged,
    /// Buffer of the previous load, for the next.
    spare: Vec<u8>,
}

impl Writer {
    /// Begin a file of a new name in `folder`. Threads are taken from `threads`.
    pub(super) fn begin(folder: &Path, threads: Arc<Semaphore>) -> Self {
        let path = folder.join(id::request_id());
        let open = Open {
            file: None,
            hash: Sha256::new(),
            staged: Staged {
                path: path.clone(),
                size_bytes: 0,
                sha256: String::new(),
            },
            spare: Vec::new(),
        };
        Self {
            path,
            threads,
            gathered: Vec::new(),
            pen: Pen::Here(Box::new(open)),
        }
    }

    /// Append a part. Waits while the previous load is still being written.
    ///
    /// # Errors
    /// The disk.
    pub(super) async fn push(&mut self, part: Bytes) -> Result<(), StageError> {
        self.gathered.extend_from_slice(&part);
        if self.gathered.len() < LOAD_BYTES {
            return Ok(());
        }
        let mut open = self.open().await?;
        let load = std::mem::replace(&mut self.gathered, std::mem::take(&mut open.spare));
        self.lend(move || {
            open.write(load)?;
            Ok(open)
        })
        .await;
        Ok(())
    }

    /// The whole file.
    ///
    /// # Errors
    /// The disk.
    pub(super) async fn finish(mut self) -> Result<Staged, StageError> {
        let mut open = self.open().await?;
        let load = std::mem::take(&mut self.gathered);
        self.lend(move || {
            open.write(load)?;
            open.finish()?;
            Ok(open)
        })
        .await;
        Ok(self.open().await?.staged)
    }

    /// Remove the file.
    pub(super) async fn give_up(mut self) {
        // Removed with the open file, once nothing writes to it any more.
        drop(self.open().await);
    }

    /// The open file, once nothing writes to it any more.
    async fn open(&mut self) -> Result<Box<Open>, StageError> {
        if let Pen::Writing(task) = &mut self.pen {
            let written = task.await.unwrap_or_else(|e| Err(io::Error::other(e)));
            self.pen = match written {
                Ok(open) => Pen::Here(open),
                Err(source) => {
                    self.pen = Pen::Lost;
                    return Err(self.failed(source));
                }
            };
        }
        match std::mem::replace(&mut self.pen, Pen::Lost) {
            Pen::Here(open) => Ok(open),
            _ => Err(self.failed(io::ErrorKind::BrokenPipe.into())),
        }
    }

    /// Do `work` on a blocking thread.
    async fn lend(&mut self, work: impl FnOnce() -> io::Result<Box<Open>> + Send + 'static) {
        let permit = self.threads.clone().acquire_owned().await;
        self.pen = Pen::Writing(tokio::task::spawn_blocking(move || {
            let done = work();
            drop(permit);
            done
        }));
    }

    fn failed(&self, source: io::Error) -> StageError {
        let path = self.path.clone();
        StageError::Write { path, source }
    }
}

impl Open {
    fn write(&mut self, mut load: Vec<u8>) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(private::make_file(&self.staged.path)?),
        };
        file.write_all(&load)?;
        self.hash.update(&load);
        self.staged.size_bytes += load.len() as u64;
        load.clear();
        self.spare = load;
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        if let Some(file) = self.file.take() {
            file.sync_all()?;
        }
        self.staged.sha256 = hex::encode(self.hash.finalize_reset());
        Ok(())
    }
}
