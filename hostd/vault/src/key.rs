//! The key file: 32 random bytes as text, readable by hostd's user alone, made when the first secret is written.
//!
//! It is read whenever it is needed, so that one that was put back works at once.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use base::folder::SECRETS_KEY;
use base::private;
use rustix::fs::OFlags;
use sha2::{Digest, Sha256};

use crate::error::KeyError;

/// Bytes of a key.
pub(crate) const KEY_BYTES: usize = 32;

/// Bytes of a fingerprint: enough to tell keys apart.
const FINGERPRINT_BYTES: usize = 8;

/// Hashed before a key for its fingerprint.
const FINGERPRINT: &[u8] = b"hostd secrets key\0";

/// Most bytes of the file: the digits, and an end of line as editors make it.
const FILE_BYTES_MAX: u64 = 2 * KEY_BYTES as u64 + 2;

/// Permission bits of everybody but the owner.
const OTHERS: u32 = 0o077;

/// A key.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Key([u8; KEY_BYTES]);

/// Where the key is.
#[derive(Debug, Clone)]
pub(crate) struct KeyFile {
    folder: PathBuf,
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Key").field(&self.fingerprint()).finish()
    }
}

impl Key {
    fn random() -> Self {
        let mut bytes = [0; KEY_BYTES];
        getrandom::fill(&mut bytes).expect("the operating system provides random bytes");
        Self(bytes)
    }

    pub(crate) fn bytes(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }

    /// What tells it from other keys and says nothing else about it.
    pub(crate) fn fingerprint(&self) -> String {
        let digest = Sha256::new().chain_update(FINGERPRINT).chain_update(self.0);
        hex::encode(&digest.finalize()[..FINGERPRINT_BYTES])
    }

    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        let mut bytes = [0; KEY_BYTES];
        hex::decode_to_slice(text.trim_ascii_end(), &mut bytes).ok()?;
        Some(Self(bytes))
    }
}

impl KeyFile {
    /// That of a data folder.
    pub(crate) fn new(data: &Path) -> Self {
        Self {
            folder: data.to_owned(),
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.join(SECRETS_KEY)
    }

    /// The key; none if there is no file.
    ///
    /// # Errors
    /// Others may read the file, or it is no key.
    pub(crate) fn read(&self) -> Result<Option<Key>, KeyError> {
        // Whatever is there, opening it does not wait.
        let flags = OFlags::NONBLOCK;
        let opened = OpenOptions::new()
            .read(true)
            .custom_flags(flags.bits().cast_signed())
            .open(self.path());
        let file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(KeyError::File(error)),
        };
        let meta = file.metadata().map_err(KeyError::File)?;
        if !meta.is_file() {
            return Err(KeyError::Malformed);
        }
        if meta.mode() & OTHERS != 0 {
            return Err(KeyError::Shared(meta.mode() & 0o7777));
        }
        let own = rustix::process::geteuid().as_raw();
        if meta.uid() != own {
            return Err(KeyError::Foreign(meta.uid()));
        }
        let mut text = Vec::new();
        file.take(FILE_BYTES_MAX + 1)
            .read_to_end(&mut text)
            .map_err(KeyError::File)?;
        Key::parse(&text).map(Some).ok_or(KeyError::Malformed)
    }

    /// Makes the file with a new key. It is whole and on disk when it has its name, and replaces none.
    ///
    /// # Errors
    /// There is one already, or the disk.
    pub(crate) fn make(&self) -> Result<Key, KeyError> {
        let key = Key::random();
        self.write(&key).map_err(KeyError::File)?;
        Ok(key)
    }

    fn write(&self, key: &Key) -> io::Result<()> {
        let work = self.folder.join(format!("{SECRETS_KEY}.new"));
        // Left by a server that died here.
        if let Err(error) = fs::remove_file(&work)
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(error);
        }
        let mut file = private::make_file(&work)?;
        writeln!(file, "{}", hex::encode(key.0))?;
        file.sync_all()?;
        fs::hard_link(&work, self.path())?;
        fs::remove_file(&work)?;
        File::open(&self.folder)?.sync_all()
    }
}
