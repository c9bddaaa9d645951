//! Durable keys of the plugin, apart for each organisation.

use crate::Error;
#[cfg(target_arch = "wasm32")]
use crate::bindings::handler::hostd::plugin::store as wit;
#[cfg(not(target_arch = "wasm32"))]
use crate::testing::with;

/// A key with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub key: String,
    pub value: Vec<u8>,
    /// Grows with every write of the key.
    pub version: u64,
}

#[cfg(target_arch = "wasm32")]
impl From<wit::Entry> for Entry {
    fn from(entry: wit::Entry) -> Self {
        Self {
            key: entry.key,
            value: entry.value,
            version: entry.version,
        }
    }
}

/// What a key has.
///
/// # Errors
/// It was not granted, or the key is too long.
pub fn get(key: &str) -> Result<Option<Entry>, Error> {
    on!(
        Ok(wit::get(key)?.map(Entry::from)),
        Ok(with(|double| double.store.get(key)))
    )
}

/// Write whatever stood there before; the new version.
///
/// # Errors
/// It was not granted, key or value are too large, or the quota is used up.
pub fn put(key: &str, value: &[u8]) -> Result<u64, Error> {
    on!(
        Ok(wit::put(key, value)?),
        Ok(with(|double| double.store.put(key, value)))
    )
}

/// Write only if the key still has version `expected`; none = only if it is absent. A value of none deletes.
///
/// # Errors
/// As [`put`], or `conflict`.
pub fn compare_and_set(
    key: &str,
    expected: Option<u64>,
    value: Option<&[u8]>,
) -> Result<u64, Error> {
    on!(
        Ok(wit::compare_and_set(key, expected, value)?),
        with(|double| double.store.compare_and_set(key, expected, value))
    )
}

/// Remove a key.
///
/// # Errors
/// It was not granted.
pub fn delete(key: &str) -> Result<(), Error> {
    on!(wit::delete(key)?, with(|double| double.store.delete(key)));
    Ok(())
}

/// Entries with `from` <= key < `to`, in key order, at most `limit` (1..=1000).
///
/// # Errors
/// It was not granted.
pub fn scan(from: &str, to: &str, limit: u32) -> Result<Vec<Entry>, Error> {
    on!(
        Ok(wit::scan(from, to, limit)?
            .into_iter()
            .map(Entry::from)
            .collect()),
        Ok(with(|double| double.store.scan(from, to, limit)))
    )
}
