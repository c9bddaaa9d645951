//! Capture files: written whole, synced, then named; a file with its final name is complete.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use tracing::warn;

/// Extension of logic samples.
pub const LOGIC: &str = "la";

/// Extension of analog samples.
pub const ANALOG: &str = "adc";

/// A file that is not complete. Dropping it removes it.
#[derive(Debug)]
pub struct Part {
    file: File,
    path: PathBuf,
    /// The name it gets.
    whole: PathBuf,
    dir: Arc<PathBuf>,
}

impl Part {
    /// Give the file its name. It is there whole or not at all, also after a power failure.
    ///
    /// # Errors
    /// The disk.
    pub fn finish(self) -> io::Result<()> {
        self.file.sync_all()?;
        fs::rename(&self.path, &self.whole)?;
        File::open(&*self.dir)?.sync_all()
    }
}

impl Write for Part {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // It has its name already, or is of no use.
        let _ = fs::remove_file(&self.path);
    }
}

/// The folder of all capture files.
#[derive(Debug, Clone)]
pub struct Files {
    dir: Arc<PathBuf>,
}

impl Files {
    /// Make the folder when it is missing and clear what an interrupted write left.
    ///
    /// # Errors
    /// The folder cannot be made or read.
    pub fn open(dir: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(&dir)?;
        for entry in fs::read_dir(&dir)? {
            let path = entry?.path();
            if path.extension().is_some_and(|e| e == "part") {
                fs::remove_file(&path)?;
            }
        }
        Ok(Self { dir: Arc::new(dir) })
    }

    /// Path of a capture's samples of one kind.
    #[must_use]
    pub fn path(&self, id: &str, kind: &str) -> PathBuf {
        self.dir.join(format!("{id}.{kind}"))
    }

    /// Write one file so that it is there whole or not at all, also after a power failure.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, id: &str, kind: &str, bytes: &[u8]) -> io::Result<()> {
        let mut part = self.begin(id, kind)?;
        part.write_all(bytes)?;
        part.finish()
    }

    /// Begin to write one file piece by piece.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn begin(&self, id: &str, kind: &str) -> io::Result<Part> {
        let path = self.dir.join(format!("{id}.{kind}.part"));
        Ok(Part {
            file: File::create(&path)?,
            path,
            whole: self.path(id, kind),
            dir: self.dir.clone(),
        })
    }

    /// Remove all files of a capture. Missing ones are fine.
    pub fn remove(&self, id: &str) {
        for kind in [LOGIC, ANALOG] {
            let path = self.path(id, kind);
            match fs::remove_file(&path) {
                Ok(()) => {}
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                Err(e) => {
                    warn!(path = %path.display(), error = %e, "failed to remove a capture file")
                }
            }
        }
    }
}
