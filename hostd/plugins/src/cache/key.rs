//! The key of the cache: 32 random bytes in a file that its user alone reads. If it is lost or wrong, a new one is made:
//! everything is compiled again, nothing else is lost.

use std::io;
use std::path::{Path, PathBuf};

use tracing::warn;

use crate::own_file;

/// Name of the file.
const FILE: &str = "key";

const KEY_BYTES: usize = 32;

/// A key.
pub(super) struct Key([u8; KEY_BYTES]);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[redacted]")
    }
}

/// The key can be neither read nor made.
#[derive(Debug, thiserror::Error)]
#[error("use the key of compiled plugins, {}", path.display())]
pub struct KeyError {
    path: PathBuf,
    #[source]
    source: io::Error,
}

impl Key {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Reads the key, or makes one.
    pub(super) fn open(folder: &Path) -> Result<Self, KeyError> {
        let path = folder.join(FILE);
        match read(&path) {
            Ok(Some(key)) => return Ok(key),
            Ok(None) => {}
            Err(why) => {
                warn!(path = %path.display(), why, "a new key is made; plugins are compiled again")
            }
        }
        make(folder).map_err(|source| KeyError { path, source })
    }
}

fn read(path: &Path) -> Result<Option<Key>, String> {
    let Some(bytes) = own_file::read(path, KEY_BYTES)? else {
        return Ok(None);
    };
    let bytes = bytes
        .try_into()
        .map_err(|_| "it has not the length of a key".to_owned())?;
    Ok(Some(Key(bytes)))
}

/// Makes a key in place of what there is.
fn make(folder: &Path) -> io::Result<Key> {
    let mut bytes = [0; KEY_BYTES];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    own_file::write(folder, FILE, &[&bytes])?;
    Ok(Key(bytes))
}
