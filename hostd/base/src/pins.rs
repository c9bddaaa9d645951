//! Keeps files in place while a backup copies them: files removed meanwhile are deleted afterwards.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tracing::warn;

/// Decides when files are deleted. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Pins(Arc<Mutex<Held>>);

#[derive(Debug, Default)]
struct Held {
    pins: usize,
    removed: Vec<PathBuf>,
}

/// While it lives, no file is deleted.
#[derive(Debug)]
pub struct Pin(Pins);

impl Pins {
    #[must_use]
    pub fn pin(&self) -> Pin {
        self.held().pins += 1;
        Pin(self.clone())
    }

    #[must_use]
    pub fn is_held(&self) -> bool {
        self.held().pins > 0
    }

    /// Remove a file whose name is never reused: now, or when nothing is pinned any more.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn remove(&self, path: &Path) -> io::Result<()> {
        let mut held = self.held();
        if held.pins > 0 {
            held.removed.push(path.to_owned());
            return Ok(());
        }
        drop(held);
        fs::remove_file(path)
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        // Each change is one call, so a panic elsewhere leaves a valid state.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        let mut held = self.0.held();
        held.pins -= 1;
        if held.pins > 0 {
            return;
        }
        let removed = std::mem::take(&mut held.removed);
        drop(held);
        for path in removed {
            match fs::remove_file(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => warn!(path = %path.display(), %error, "failed to remove a file"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn what_is_removed_goes_with_the_last_pin() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, "x").unwrap();
        let pins = Pins::default();
        let (first, second) = (pins.pin(), pins.pin());
        pins.remove(&path).unwrap();
        drop(first);
        assert!(path.exists() && pins.is_held());
        drop(second);
        assert!(!path.exists() && !pins.is_held());
        assert!(pins.remove(&path).is_err(), "at once again");
    }
}
