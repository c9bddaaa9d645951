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
        let part = self.dir.join(format!("{id}.{kind}.part"));
        let mut file = File::create(&part)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&part, self.path(id, kind))?;
        File::open(&*self.dir)?.sync_all()
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
