//! One file on its way to disk, hashed as it is written, by a thread that may block.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use sha2::{Digest, Sha256};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::{PARTS_QUEUED, StageError, Staged};
use crate::id;

/// A file that is being written. Dropping it gives the file up.
#[derive(Debug)]
pub(super) struct Writer {
    path: PathBuf,
    parts: mpsc::Sender<Bytes>,
    task: JoinHandle<io::Result<Staged>>,
}

impl Writer {
    /// Begin a file of a new name in `folder`.
    pub(super) fn begin(folder: &Path) -> Self {
        let path = folder.join(id::request_id());
        let (parts, arriving) = mpsc::channel(PARTS_QUEUED);
        let target = path.clone();
        // A file that was given up is removed with the result that nobody takes.
        let task = tokio::task::spawn_blocking(move || write(target, arriving));
        Self { path, parts, task }
    }

    /// Append a part. A failure shows when the file is finished.
    pub(super) async fn push(&mut self, part: Bytes) {
        drop(self.parts.send(part).await);
    }

    /// The whole file.
    ///
    /// # Errors
    /// The disk.
    pub(super) async fn finish(self) -> Result<Staged, StageError> {
        let Self { path, parts, task } = self;
        drop(parts);
        let written = task.await.unwrap_or_else(|e| Err(io::Error::other(e)));
        written.map_err(|source| StageError::Write { path, source })
    }
}

/// Write what arrives until the senders are gone. The file is removed again if that fails.
fn write(path: PathBuf, mut arriving: mpsc::Receiver<Bytes>) -> io::Result<Staged> {
    let mut file = File::create_new(&path)?;
    let mut staged = Staged {
        path,
        size_bytes: 0,
        sha256: String::new(),
    };
    let mut hash = Sha256::new();
    while let Some(part) = arriving.blocking_recv() {
        hash.update(&part);
        file.write_all(&part)?;
        staged.size_bytes += part.len() as u64;
    }
    file.sync_all()?;
    staged.sha256 = hex(&hash.finalize());
    Ok(staged)
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |b: u8| char::from(DIGITS[usize::from(b)]);
    bytes
        .iter()
        .flat_map(|b| [digit(b >> 4), digit(b & 15)])
        .collect()
}
