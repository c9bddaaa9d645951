//! Table of the handlers' own data, separated by handler group and organisation, and of the plugins', separated by plugin
//! and organisation, which have a quota.
//!
//! A value is stored after its version, 8 bytes little-endian. How much a plugin has stored is counted beside its keys, in
//! the transactions that change them.

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

/// Before the keys of plugins, and before the counts of what they have stored. No handler group has these names.
const PLUGIN: &str = "plugin";
const PLUGIN_USAGE: &str = "plugin-usage";

/// What an entry of a plugin counts besides its key and value, in bytes, so that empty ones are not free.
pub const ENTRY_BYTES: u64 = 64;

/// Most entries that one transaction removes with a plugin.
const CLEARED_MAX: usize = 500;

/// Whose entries: a handler group's or a plugin's within an organisation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Namespace {
    prefix: String,
    quota: Option<Quota>,
}

/// How much may be stored, and where what is stored is counted.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Quota {
    counter: String,
    bytes_max: u64,
}

impl Namespace {
    /// The entries of handler group `group` for organisation `org` (a ULID).
    #[must_use]
    pub fn new(group: &str, org: &str) -> Self {
        debug_assert!(!group.contains(SPLIT) && !org.contains(SPLIT));
        debug_assert!(![PLUGIN, PLUGIN_USAGE].contains(&group));
        Self {
            prefix: format!("{group}{SPLIT}{org}{SPLIT}"),
            quota: None,
        }
    }

    /// The entries of the plugin `id` for organisation `org`, which may take up to `bytes_max`: keys, values, and
    /// [`ENTRY_BYTES`] for each.
    #[must_use]
    pub fn of_plugin(id: &str, org: &str, bytes_max: u64) -> Self {
        debug_assert!(!id.contains(SPLIT) && !org.contains(SPLIT));
        let counter = format!("{PLUGIN_USAGE}{SPLIT}{id}{SPLIT}{org}");
        Self {
            prefix: format!("{PLUGIN}{SPLIT}{id}{SPLIT}{org}{SPLIT}"),
            quota: Some(Quota { counter, bytes_max }),
        }
    }

    fn key(&self, key: &str) -> String {
        format!("{}{key}", self.prefix)
    }

    /// Counts that an entry changes to a value of this length, or goes.
    fn count(&self, w: &Writing<'_>, key: &str, len: Option<usize>) -> Result<(), KvError> {
        let Some(quota) = &self.quota else {
            return Ok(());
        };
        let size = |value: usize| (key.len() - self.prefix.len() + value) as u64 + ENTRY_BYTES;
        let stored = w.value(TABLE, key)?;
        let was = stored.map_or(0, |stored| size(stored.len().saturating_sub(VERSION_BYTES)));
        let is = len.map_or(0, size);
        let used = version_of(w, &quota.counter)?.unwrap_or(0);
        let after = used.saturating_sub(was) + is;
        if is > was && after > quota.bytes_max {
            let bytes_max = quota.bytes_max;
            return Err(KvError::Full { used, bytes_max });
        }
        w.put(TABLE, &quota.counter, &after.to_le_bytes())?;
        Ok(())
    }
}

/// Bytes that the keys of a plugin take in an organisation.
///
/// # Errors
/// The storage failed.
pub fn used(from: &impl Source, id: &str, org: &str) -> Result<u64, StoreError> {
    let counter = format!("{PLUGIN_USAGE}{SPLIT}{id}{SPLIT}{org}");
    Ok(from
        .value(TABLE, &counter)?
        .map_or(0, |used| version(&used)))
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
    #[error(
        "store more: {used} of {bytes_max} bytes are used; remove keys, or have an operator grant more with --store-mib"
    )]
    Full { used: u64, bytes_max: u64 },
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
        found.push(entry(&key[namespace.prefix.len()..], stored));
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
        let (space, key) = (namespace.clone(), namespace.key(key));
        self.write(move |w| write(w, &space, &key, &value)).await
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
        let (space, key) = (namespace.clone(), namespace.key(key));
        self.write(move |w| {
            let current = version_of(w, &key)?;
            if current != expected {
                return Err(KvError::Conflict { current });
            }
            let Some(value) = &value else {
                space.count(w, &key, None)?;
                w.remove(TABLE, &key)?;
                return Ok(0);
            };
            write(w, &space, &key, value)
        })
        .await
    }

    /// Remove an entry; returns whether it existed.
    ///
    /// # Errors
    /// The key is too long, or the storage failed.
    pub async fn kv_delete(&self, namespace: &Namespace, key: &str) -> Result<bool, KvError> {
        check_key(key)?;
        let (space, key) = (namespace.clone(), namespace.key(key));
        self.write(move |w| {
            space.count(w, &key, None)?;
            Ok(w.remove(TABLE, &key)?)
        })
        .await
    }

    /// Remove some of a plugin's entries, of all organisations; whether there are more. Nobody should write any
    /// meanwhile.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn kv_clear_plugin(&self, id: &str) -> Result<bool, StoreError> {
        debug_assert!(!id.contains(SPLIT));
        let spaces = [PLUGIN, PLUGIN_USAGE].map(|name| format!("{name}{SPLIT}{id}"));
        self.write(move |w| {
            let mut left = CLEARED_MAX;
            for space in &spaces {
                let found = keys_below(w, space, left)?;
                for key in &found {
                    w.remove(TABLE, key)?;
                }
                left -= found.len();
            }
            Ok(left == 0)
        })
        .await
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

/// Up to `most` keys that begin with a prefix and [`SPLIT`].
fn keys_below(from: &impl Source, prefix: &str, most: usize) -> Result<Vec<String>, StoreError> {
    let (low, high) = (format!("{prefix}{SPLIT}"), format!("{prefix}\u{1}"));
    let range = Range {
        from: Bound::Included(&low),
        to: Bound::Excluded(&high),
        backwards: false,
    };
    let mut found = Vec::new();
    from.scan(TABLE, range, &mut |key, _| {
        if found.len() == most {
            return Ok(ControlFlow::Break(()));
        }
        found.push(key.to_owned());
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

fn write(w: &Writing<'_>, space: &Namespace, key: &str, value: &[u8]) -> Result<u64, KvError> {
    space.count(w, key, Some(value.len()))?;
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
