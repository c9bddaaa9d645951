//! Capture files: written whole, synced, then named; a file with its final name is complete.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use tracing::warn;

use base::private;
use base::space::Space;

/// Extension of logic samples.
pub const LOGIC: &str = "la";

/// Extension of analog samples.
pub const ANALOG: &str = "adc";

/// Extension of the pyramid of logic samples.
pub const LOGIC_PYRAMID: &str = "la.pyramid";

/// Extension of the pyramid of analog samples.
pub const ANALOG_PYRAMID: &str = "adc.pyramid";

/// Every kind of file that a capture can have. Pyramids can be made again from the samples.
const KINDS: [&str; 4] = [LOGIC, ANALOG, LOGIC_PYRAMID, ANALOG_PYRAMID];

/// Bytes of one file between two checks for disk space.
const LOOK_BYTES: u64 = 4 << 20;

/// A file that is not complete. Dropping it removes it.
#[derive(Debug)]
pub struct Part {
    file: File,
    path: PathBuf,
    /// The name it gets.
    whole: PathBuf,
    dir: Arc<PathBuf>,
    space: Arc<Space>,
    /// Bytes until the next check of it.
    look_in: u64,
}

impl Part {
    /// Give the file its name. It exists complete or not at all, even after a power failure.
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
        if self.look_in < bytes.len() as u64 {
            self.space.admit(bytes.len() as u64)?;
            self.look_in = LOOK_BYTES.max(bytes.len() as u64);
        }
        let written = self.file.write(bytes)?;
        self.look_in -= written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // Already renamed, or useless.
        let _ = fs::remove_file(&self.path);
    }
}

/// The folder of all capture files.
#[derive(Debug, Clone)]
pub struct Files {
    dir: Arc<PathBuf>,
    space: Arc<Space>,
}

impl Files {
    /// Make the folder if it is missing, and clear what an interrupted write left.
    ///
    /// # Errors
    /// The folder cannot be made or read.
    pub fn open(dir: PathBuf, space: Arc<Space>) -> io::Result<Self> {
        private::make_folder(&dir)?;
        for entry in fs::read_dir(&dir)? {
            let path = entry?.path();
            if path.extension().is_some_and(|e| e == "part") {
                fs::remove_file(&path)?;
            }
        }
        Ok(Self {
            dir: Arc::new(dir),
            space,
        })
    }

    /// The folder as it is, for reading.
    #[must_use]
    pub fn look_at(dir: PathBuf) -> Self {
        Self {
            space: Space::boundless(),
            dir: Arc::new(dir),
        }
    }

    /// Path of a capture's samples of one kind.
    #[must_use]
    pub fn path(&self, id: &str, kind: &str) -> PathBuf {
        self.dir.join(format!("{id}.{kind}"))
    }

    /// Write one file so that it exists complete or not at all, even after a power failure.
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
            file: private::make_file(&path)?,
            path,
            whole: self.path(id, kind),
            dir: self.dir.clone(),
            space: self.space.clone(),
            look_in: 0,
        })
    }

    /// Size of all files of a capture.
    #[must_use]
    pub fn size_bytes(&self, id: &str) -> u64 {
        KINDS.iter().map(|kind| self.size_of(id, kind)).sum()
    }

    /// Size of one file of a capture; 0 if it is missing.
    #[must_use]
    pub(crate) fn size_of(&self, id: &str, kind: &str) -> u64 {
        fs::metadata(self.path(id, kind)).map_or(0, |meta| meta.len())
    }

    /// Remove all files of a capture. Missing ones are fine.
    pub fn remove(&self, id: &str) {
        for kind in KINDS {
            let path = self.path(id, kind);
            match self.space.pins.remove(&path) {
                Ok(()) => {}
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                Err(e) => {
                    warn!(path = %path.display(), error = %e, "failed to remove a capture file")
                }
            }
        }
    }
}
