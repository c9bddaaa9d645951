//! The key of the cache: 32 random bytes in a file that its user alone reads. If it is lost or wrong, a new one is made:
//! everything is compiled again, nothing else is lost.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use base::private;
use rustix::fs::OFlags;
use tracing::warn;

use super::is_own;

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
        make(folder, &path).map_err(|source| KeyError { path, source })
    }
}

fn read(path: &Path) -> Result<Option<Key>, String> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path);
    let file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let meta = file.metadata().map_err(|error| error.to_string())?;
    if !meta.is_file() || !is_own(&meta) {
        return Err("others may read it".to_owned());
    }
    let mut bytes = Vec::new();
    let read = file.take(KEY_BYTES as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| error.to_string())?;
    let key = bytes
        .try_into()
        .map_err(|_| "it has not the length of a key".to_owned())?;
    Ok(Some(Key(key)))
}

/// Makes a key in place of what there is. It is whole and on disk when it has its name.
fn make(folder: &Path, path: &Path) -> io::Result<Key> {
    let mut bytes = [0; KEY_BYTES];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    let work = folder.join(format!("{FILE}{}", super::UNFINISHED));
    match fs::remove_file(&work) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = private::make_file(&work)?;
    file.write_all(&bytes)?;
    file.sync_all()?;
    fs::rename(&work, path)?;
    File::open(folder)?.sync_all()?;
    Ok(Key(bytes))
}
