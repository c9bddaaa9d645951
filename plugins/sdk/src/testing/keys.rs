//! The double's durable keys.

use std::collections::BTreeMap;

use crate::Error;
use crate::store::Entry;

/// Keys in memory, with the host's rules about versions.
#[derive(Debug, Default)]
pub struct Keys {
    entries: BTreeMap<String, (Vec<u8>, u64)>,
    last_version: u64,
}

impl Keys {
    /// What a key has.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Entry> {
        let (value, version) = self.entries.get(key)?;
        Some(entry(key, value, *version))
    }

    /// Write a key; its new version.
    pub fn put(&mut self, key: &str, value: &[u8]) -> u64 {
        self.last_version += 1;
        self.entries
            .insert(key.to_owned(), (value.to_owned(), self.last_version));
        self.last_version
    }

    pub(crate) fn compare_and_set(
        &mut self,
        key: &str,
        expected: Option<u64>,
        value: Option<&[u8]>,
    ) -> Result<u64, Error> {
        let current = self.entries.get(key).map(|(_, version)| *version);
        if current != expected {
            return Err(Error::new("conflict", "somebody else wrote first"));
        }
        if let Some(value) = value {
            return Ok(self.put(key, value));
        }
        self.delete(key);
        Ok(0)
    }

    pub(crate) fn delete(&mut self, key: &str) {
        self.entries.remove(key);
    }

    pub(crate) fn scan(&self, from: &str, to: &str, limit: u32) -> Vec<Entry> {
        let found = self
            .entries
            .iter()
            .filter(|(key, _)| (from..to).contains(&key.as_str()));
        let found = found.take(limit.clamp(1, 1000) as usize);
        found
            .map(|(key, (value, version))| entry(key, value, *version))
            .collect()
    }
}

fn entry(key: &str, value: &[u8], version: u64) -> Entry {
    Entry {
        key: key.to_owned(),
        value: value.to_owned(),
        version,
    }
}
