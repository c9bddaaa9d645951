//! Compiled code, so that a plugin is compiled once. Whoever loads it runs it as the server, so a file counts only if it is
//! this server's own: in a private folder, owned by its user, and with an HMAC over code, digest and engine under a key
//! that only this user reads. What is verified is what is returned; nothing is read twice.
//!
//! Anything else is as if it were not there: it is compiled again. Nothing here ever comes from outside or goes into a
//! backup.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use base::private;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use tracing::warn;

mod key;

pub use key::KeyError;

use key::Key;

use crate::own_file::{self, UNFINISHED, is_own};

/// Largest code, in bytes: four times what the largest component that was measured compiles to.
pub const CODE_BYTES_MAX: usize = 256 << 20;

/// Bytes of all files, unless those in use need more.
pub const TOTAL_BYTES_DEFAULT: u64 = 2 << 30;

/// Suffix of code.
const SUFFIX: &str = ".cwasm";

/// Begins every file.
const MAGIC: &[u8; 16] = b"hostd cwasm 1\0\0\0";

const MAC_BYTES: usize = 32;
const HEAD_BYTES: usize = MAGIC.len() + MAC_BYTES;

/// Which code: of this component, for this engine.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Name {
    component: String,
    engine: String,
}

/// The folder.
#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
    key: Key,
    total_bytes_max: u64,
    held: Arc<Mutex<HashMap<String, usize>>>,
}

/// Code that was verified, or compiled just now. While it lives, its file stays.
#[derive(Debug)]
pub struct Code {
    bytes: Vec<u8>,
    hold: Hold,
}

/// Keeps a file from being removed for room.
#[derive(Debug)]
pub struct Hold {
    file: String,
    held: Arc<Mutex<HashMap<String, usize>>>,
}

/// Why the cache cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// The folder.
    #[error("use the folder {} of compiled plugins", path.display())]
    Folder {
        /// Which.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// Others may write to it, or it is somebody else's.
    #[error("use the folder {} of compiled plugins: it is not this user's alone; remove it, it is made again", path.display())]
    Foreign {
        /// Which.
        path: PathBuf,
    },
    /// Its key.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A file was not written.
    #[error("keep the compiled plugin")]
    Write(#[source] io::Error),
    /// The compiler made too much.
    #[error("keep the compiled plugin: it has over {CODE_BYTES_MAX} bytes")]
    TooLarge,
}

impl Name {
    /// Both are hexadecimal; none if they are not.
    #[must_use]
    pub fn new(component_digest: &str, engine_hash: &str) -> Option<Self> {
        let is_hex = |text: &str| {
            (1..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit())
        };
        (component_digest.len() == 64 && is_hex(component_digest) && is_hex(engine_hash)).then(
            || Self {
                component: component_digest.to_ascii_lowercase(),
                engine: engine_hash.to_ascii_lowercase(),
            },
        )
    }

    fn file(&self) -> String {
        format!("{}-{}{SUFFIX}", self.component, self.engine)
    }
}

impl Code {
    /// The code.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Lets the bytes go, which the engine has copied, and keeps the file.
    #[must_use]
    pub fn into_hold(self) -> Hold {
        self.hold
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let mut held = locked(&self.held);
        if let Some(count) = held.get_mut(&self.file) {
            *count -= 1;
            if *count == 0 {
                held.remove(&self.file);
            }
        }
    }
}

fn locked(held: &Mutex<HashMap<String, usize>>) -> MutexGuard<'_, HashMap<String, usize>> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Cache {
    /// Opens the folder, or makes it and its key. What a server that died left unfinished goes. Blocks on the disk.
    ///
    /// # Errors
    /// It cannot be made, or is not this user's alone.
    pub fn open(folder: &Path, total_bytes_max: u64) -> Result<Self, CacheError> {
        let failed = |source| CacheError::Folder {
            path: folder.to_owned(),
            source,
        };
        private::make_folder(folder).map_err(failed)?;
        let meta = fs::symlink_metadata(folder).map_err(failed)?;
        if !meta.is_dir() || !is_own(&meta) {
            let path = folder.to_owned();
            return Err(CacheError::Foreign { path });
        }
        let key = Key::open(folder)?;
        let cache = Self {
            folder: folder.to_owned(),
            key,
            total_bytes_max,
            held: Arc::default(),
        };
        for (name, _) in cache.files().map_err(failed)? {
            if name.ends_with(UNFINISHED) {
                let _ = fs::remove_file(folder.join(name));
            }
        }
        Ok(cache)
    }

    /// The code of this name, if the cache has it and made it itself. Blocks on the disk.
    #[must_use]
    pub fn load(&self, name: &Name) -> Option<Code> {
        let file = name.file();
        let hold = self.hold(&file);
        match self.read(name) {
            Ok(Some(bytes)) => {
                // For what is removed first. If it cannot be noted, that is a guess as good as another.
                let _ = File::open(self.folder.join(&file))
                    .and_then(|file| file.set_modified(SystemTime::now()));
                Some(Code { bytes, hold })
            }
            Ok(None) => None,
            Err(why) => {
                warn!(file, %why, "a compiled plugin is not used; it is compiled again");
                None
            }
        }
    }

    /// Keeps code that was compiled just now. It is whole when it has its name; what a power failure leaves of it does not
    /// verify, and is compiled again. Blocks on the disk.
    ///
    /// # Errors
    /// The disk, or there is too much of it.
    pub fn keep(&self, name: &Name, bytes: Vec<u8>) -> Result<Code, CacheError> {
        if bytes.len() > CODE_BYTES_MAX {
            return Err(CacheError::TooLarge);
        }
        let file = name.file();
        let hold = self.hold(&file);
        self.write(name, &bytes).map_err(CacheError::Write)?;
        if let Err(error) = self.make_room() {
            warn!(%error, "old compiled plugins are not removed");
        }
        Ok(Code { bytes, hold })
    }

    fn hold(&self, file: &str) -> Hold {
        *locked(&self.held).entry(file.to_owned()).or_default() += 1;
        Hold {
            file: file.to_owned(),
            held: self.held.clone(),
        }
    }

    /// The code in a file; none if there is none, and why if it is not to be used.
    fn read(&self, name: &Name) -> Result<Option<Vec<u8>>, String> {
        let path = self.folder.join(name.file());
        let Some(mut bytes) = own_file::read(&path, HEAD_BYTES + CODE_BYTES_MAX)? else {
            return Ok(None);
        };
        let head = bytes
            .get(..HEAD_BYTES)
            .and_then(|head| head.strip_prefix(MAGIC));
        let mac = head.ok_or("it is cut off, or of another version")?.to_vec();
        bytes.drain(..HEAD_BYTES);
        // Compares in constant time.
        let verified = self.mac(name, &bytes).verify_slice(&mac);
        verified.map_err(|_| "it is not what this server has compiled".to_owned())?;
        Ok(Some(bytes))
    }

    fn write(&self, name: &Name, bytes: &[u8]) -> io::Result<()> {
        let mac = self.mac(name, bytes).finalize().into_bytes();
        own_file::write_unsynced(&self.folder, &name.file(), &[MAGIC, &mac, bytes])
    }

    /// Over lengths too, so that no two names and codes give the same bytes.
    fn mac(&self, name: &Name, bytes: &[u8]) -> Hmac<Sha256> {
        let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(self.key.bytes())
            .expect("any length is a key");
        mac.update(MAGIC);
        for part in [name.component.as_bytes(), name.engine.as_bytes(), bytes] {
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part);
        }
        mac
    }

    /// Removes files that were not used for longest, but none in use, until the others fit.
    fn make_room(&self) -> io::Result<()> {
        let mut files = self.files()?;
        files.retain(|(name, _)| name.ends_with(SUFFIX));
        files.sort_by_key(|(_, meta)| meta.modified().unwrap_or(SystemTime::UNIX_EPOCH));
        let mut total: u64 = files.iter().map(|(_, meta)| meta.len()).sum();
        for (name, meta) in files {
            // Whoever begins to use it meanwhile waits for this lock.
            let held = locked(&self.held);
            if total > self.total_bytes_max && !held.contains_key(&name) {
                fs::remove_file(self.folder.join(&name))?;
                total -= meta.len();
            }
        }
        Ok(())
    }

    fn files(&self) -> io::Result<Vec<(String, fs::Metadata)>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            if let Ok(name) = entry.file_name().into_string() {
                found.push((name, entry.metadata()?));
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests;
