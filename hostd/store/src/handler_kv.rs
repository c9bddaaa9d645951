//! Table of the handlers' own data, separated by handler group and organisation.
//!
//! A value is stored after its version, 8 bytes little-endian.

use std::ops::{Bound, ControlFlow};

use super::snapshot::{Range, Source};
use super::{Store, StoreError, Writing};

pub(super) const TABLES: [&str; 1] = ["handler_kv"];

const TABLE: &str = TABLES[0];

/// Longest key, in bytes.
pub(crate) const KEY_BYTES_MAX: usize = 512;

/// Largest value, in bytes.
pub(crate) const VALUE_BYTES_MAX: usize = 1 << 20;

/// Most entries of one scan.
pub const SCAN_MAX: u32 = 1000;

/// Most value bytes of one scan: it ends early, after at least one entry.
pub(crate) const SCAN_BYTES_MAX: usize = 8 << 20;

const VERSION_BYTES: usize = 8;

/// Record that holds the last version assigned. One counter serves all keys, so that a key that is
/// deleted and rewritten never repeats a version. No namespace produces the empty key.
const LAST_VERSION_KEY: &str = "";

/// Separates the parts of a stored key; neither group nor organisation can contain it.
const SPLIT: char = '\0';

/// Whose entries: a handler group within an organisation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Namespace(String);

impl Namespace {
    /// The entries of handler group `group` for organisation `org` (a ULID).
    #[must_use]
    pub fn new(group: &str, org: &str) -> Self {
        debug_assert!(!group.contains(SPLIT) && !org.contains(SPLIT));
        Self(format!("{group}{SPLIT}{org}{SPLIT}"))
    }

    fn key(&self, key: &str) -> String {
        format!("{}{key}", self.0)
    }
}

/// A key with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub key: String,
    pub value: Vec<u8>,
    /// Grows with every write of the key, from 1.
    pub version: u64,
}

/// Why an entry could not be written.
#[derive(Debug, thiserror::Error)]
pub enum KvError {
    #[error("store a key of {len} bytes: the limit is {KEY_BYTES_MAX}")]
    KeyTooLong { len: usize },
    #[error("store a value of {len} bytes: the limit is {VALUE_BYTES_MAX}")]
    ValueTooLarge { len: usize },
    /// The key has a different version than expected; none = the key is absent.
    #[error("write the entry: somebody else wrote first")]
    Conflict { current: Option<u64> },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// One entry.
///
/// # Errors
/// The key is too long, or the storage failed.
pub fn get(from: &impl Source, namespace: &Namespace, key: &str) -> Result<Option<Entry>, KvError> {
    check_key(key)?;
    let stored = from.value(TABLE, &namespace.key(key))?;
    Ok(stored.map(|stored| entry(key, &stored)))
}

/// Entries with `from` <= key < `to`, in key order, at most `limit` (clamped to 1..=[`SCAN_MAX`])
/// and `SCAN_BYTES_MAX` bytes.
///
/// # Errors
/// The storage failed.
pub fn scan(
    source: &impl Source,
    namespace: &Namespace,
    from: &str,
    to: &str,
    limit: u32,
) -> Result<Vec<Entry>, StoreError> {
    if from >= to {
        return Ok(Vec::new());
    }
    let limit = limit.clamp(1, SCAN_MAX) as usize;
    let (low, high) = (namespace.key(from), namespace.key(to));
    let range = Range {
        from: Bound::Included(&low),
        to: Bound::Excluded(&high),
        backwards: false,
    };
    let mut found: Vec<Entry> = Vec::new();
    let mut bytes = 0;
    source.scan(TABLE, range, &mut |key, stored| {
        bytes += stored.len();
        if !found.is_empty() && bytes > SCAN_BYTES_MAX {
            return Ok(ControlFlow::Break(()));
        }
        found.push(entry(&key[namespace.0.len()..], stored));
        Ok(if found.len() < limit {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        })
    })?;
    Ok(found)
}

impl Store {
    /// Write, whatever was there before; returns the new version.
    ///
    /// # Errors
    /// Key or value are too large, or the storage failed.
    pub async fn kv_put(
        &self,
        namespace: &Namespace,
        key: &str,
        value: Vec<u8>,
    ) -> Result<u64, KvError> {
        check_key(key)?;
        check_value(&value)?;
        let key = namespace.key(key);
        self.write(move |w| Ok(write(w, &key, &value)?)).await
    }

    /// Write only if the key has version `expected` (none = only if it is absent); returns the new
    /// version. A value of none deletes and returns 0.
    ///
    /// # Errors
    /// The version differs, key or value are too large, or the storage failed.
    pub async fn kv_compare_and_set(
        &self,
        namespace: &Namespace,
        key: &str,
        expected: Option<u64>,
        value: Option<Vec<u8>>,
    ) -> Result<u64, KvError> {
        check_key(key)?;
        value.as_deref().map_or(Ok(()), check_value)?;
        let key = namespace.key(key);
        self.write(move |w| {
            let current = version_of(w, &key)?;
            if current != expected {
                return Err(KvError::Conflict { current });
            }
            let Some(value) = &value else {
                w.remove(TABLE, &key)?;
                return Ok(0);
            };
            Ok(write(w, &key, value)?)
        })
        .await
    }

    /// Remove an entry; returns whether it existed.
    ///
    /// # Errors
    /// The key is too long, or the storage failed.
    pub async fn kv_delete(&self, namespace: &Namespace, key: &str) -> Result<bool, KvError> {
        check_key(key)?;
        let key = namespace.key(key);
        self.write(move |w| Ok(w.remove(TABLE, &key)?)).await
    }
}

fn check_key(key: &str) -> Result<(), KvError> {
    match key.len() {
        len if len > KEY_BYTES_MAX => Err(KvError::KeyTooLong { len }),
        _ => Ok(()),
    }
}

fn check_value(value: &[u8]) -> Result<(), KvError> {
    match value.len() {
        len if len > VALUE_BYTES_MAX => Err(KvError::ValueTooLarge { len }),
        _ => Ok(()),
    }
}

fn version_of(w: &Writing<'_>, key: &str) -> Result<Option<u64>, StoreError> {
    Ok(w.value(TABLE, key)?.map(|stored| version(&stored)))
}

fn write(w: &Writing<'_>, key: &str, value: &[u8]) -> Result<u64, StoreError> {
    let version = version_of(w, LAST_VERSION_KEY)?.unwrap_or(0) + 1;
    w.put(TABLE, LAST_VERSION_KEY, &version.to_le_bytes())?;
    let mut stored = Vec::with_capacity(VERSION_BYTES + value.len());
    stored.extend_from_slice(&version.to_le_bytes());
    stored.extend_from_slice(value);
    w.put(TABLE, key, &stored)?;
    Ok(version)
}

fn version(stored: &[u8]) -> u64 {
    stored
        .first_chunk()
        .map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

fn entry(key: &str, stored: &[u8]) -> Entry {
    Entry {
        key: key.to_owned(),
        value: stored.get(VERSION_BYTES..).unwrap_or_default().to_vec(),
        version: version(stored),
    }
}
