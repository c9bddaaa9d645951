//! A table of JSON records under text keys. JSON, because any tool can read it, and fields can be
//! added with a default.

use std::marker::PhantomData;
use std::ops::{Bound, ControlFlow};

use serde::Serialize;
use serde::de::DeserializeOwned;

use base::{clock, id};

use super::error::StoreError;
use super::snapshot::{Range, Source};
use super::writing::Writing;

/// A record, or why it cannot be read and what is stored.
pub(super) type Read<R, B> = Result<R, (serde_json::Error, B)>;

/// A record that cannot be read: another version wrote it, or it is damaged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    pub table: &'static str,
    pub key: String,
    /// What is wrong with it.
    pub error: String,
}

pub(super) struct Records<R> {
    name: &'static str,
    record: PhantomData<fn() -> R>,
}

impl<R: Serialize + DeserializeOwned> Records<R> {
    pub(super) const fn new(name: &'static str) -> Self {
        Self {
            name,
            record: PhantomData,
        }
    }

    pub(super) fn get(&self, from: &impl Source, key: &str) -> Result<Option<R>, StoreError> {
        from.value(self.name, key)?
            .map(|bytes| self.parse(key, &bytes))
            .transpose()
    }

    /// All records, by key.
    pub(super) fn all(&self, from: &impl Source) -> Result<Vec<R>, StoreError> {
        let mut found = Vec::new();
        self.each(from, Range::ALL, |_, record| {
            found.push(record);
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }

    /// All records whose key begins with `first/`, by key.
    pub(super) fn all_of(&self, from: &impl Source, first: &str) -> Result<Vec<R>, StoreError> {
        let keys = Pairs::of(first);
        let range = keys.forwards();
        let mut found = Vec::new();
        self.each(from, range, |_, record| {
            found.push(record);
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }

    /// As [`all_of`](Self::all_of), without those that cannot be read.
    pub(super) fn readable_of(
        &self,
        from: &impl Source,
        first: &str,
    ) -> Result<Vec<R>, StoreError> {
        let keys = Pairs::of(first);
        let range = keys.forwards();
        let mut found = Vec::new();
        self.each_readable(from, range, |_, record| {
            found.push(record);
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }

    /// As [`each`](Self::each), without those that cannot be read.
    pub(super) fn each_readable(
        &self,
        from: &impl Source,
        range: Range<'_>,
        mut visit: impl FnMut(&str, R) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.each_found(from, range, |key, read| match read {
            Ok(record) => visit(key, record),
            Err(_) => ControlFlow::Continue(()),
        })
    }

    /// Those that cannot be read.
    pub(super) fn unreadable(&self, from: &impl Source) -> Result<Vec<Unreadable>, StoreError> {
        let mut found = Vec::new();
        self.each_found(from, Range::ALL, |key, read| {
            if let Err((error, _)) = read {
                found.push(Unreadable {
                    table: self.name,
                    key: key.to_owned(),
                    error: error.to_string(),
                });
            }
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }

    /// Visit the records of `range` until `visit` breaks.
    pub(super) fn each(
        &self,
        from: &impl Source,
        range: Range<'_>,
        mut visit: impl FnMut(&str, R) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        from.scan(self.name, range, &mut |key, bytes| {
            Ok(visit(key, self.parse(key, bytes)?))
        })
    }

    /// As [`each`](Self::each), but one that cannot be read is visited as well: with why, and as it is stored.
    pub(super) fn each_found(
        &self,
        from: &impl Source,
        range: Range<'_>,
        mut visit: impl FnMut(&str, Read<R, &[u8]>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        from.scan(self.name, range, &mut |key, bytes| {
            let read = serde_json::from_slice(bytes).map_err(|error| (error, bytes));
            Ok(visit(key, read))
        })
    }

    /// As [`get`](Self::get), but one that cannot be read is found as well: with why, and as it is stored.
    pub(super) fn get_found(
        &self,
        from: &impl Source,
        key: &str,
    ) -> Result<Option<Read<R, Vec<u8>>>, StoreError> {
        let found = from.value(self.name, key)?;
        Ok(found.map(|bytes| serde_json::from_slice(&bytes).map_err(|error| (error, bytes))))
    }

    /// As [`get`](Self::get), but one that cannot be read is as none.
    pub(super) fn get_readable(
        &self,
        from: &impl Source,
        key: &str,
    ) -> Result<Option<R>, StoreError> {
        Ok(self.get_found(from, key)?.and_then(Result::ok))
    }

    /// How many there are.
    pub(super) fn count(&self, from: &impl Source) -> Result<u64, StoreError> {
        from.count(self.name)
    }

    pub(super) fn put(&self, to: &Writing<'_>, key: &str, record: &R) -> Result<(), StoreError> {
        let bytes = serde_json::to_vec(record).map_err(|source| self.broken(key, source))?;
        to.put(self.name, key, &bytes)
    }

    pub(super) fn remove(&self, from: &Writing<'_>, key: &str) -> Result<bool, StoreError> {
        from.remove(self.name, key)
    }

    fn parse(&self, key: &str, bytes: &[u8]) -> Result<R, StoreError> {
        serde_json::from_slice(bytes).map_err(|source| self.broken(key, source))
    }

    fn broken(&self, key: &str, source: serde_json::Error) -> StoreError {
        StoreError::Record {
            table: self.name,
            key: key.to_owned(),
            source: source.into(),
        }
    }
}

/// Whether a value is JSON at all, whatever its type.
pub(super) fn is_json(table: &'static str, key: &str, value: &[u8]) -> Result<(), StoreError> {
    match serde_json::from_slice::<serde::de::IgnoredAny>(value) {
        Ok(_) => Ok(()),
        Err(source) => Err(StoreError::Record {
            table,
            key: key.to_owned(),
            source: source.into(),
        }),
    }
}

/// Keys of the form `first/second`, where neither part holds a `/`.
pub(super) fn pair(first: &str, second: &str) -> String {
    format!("{first}/{second}")
}

/// The keys that [`pair`] makes with one first part.
pub(super) struct Pairs {
    low: String,
    high: String,
}

/// How long an id may be older than the time that its record has: both are taken one after the other, and a clock may be set.
const ID_AGE_MS: u64 = 60 * 1000;

/// The least id that a record can have that is not older than `since`; none if that is no instant.
pub(super) fn least_id(since: &str) -> Option<String> {
    let since_ms = clock::since_ms(since)?;
    Some(id::first_ulid(since_ms.saturating_sub(ID_AGE_MS)))
}

impl Pairs {
    /// All of them: `0` follows `/` in ASCII.
    pub(super) fn of(first: &str) -> Self {
        Self {
            low: format!("{first}/"),
            high: format!("{first}0"),
        }
    }

    /// Those before `second`, if that is given.
    pub(super) fn before(first: &str, second: Option<&str>) -> Self {
        let all = Self::of(first);
        Self {
            high: second.map_or(all.high, |second| pair(first, second)),
            low: all.low,
        }
    }

    /// The same, those from `least` on, if that is given.
    pub(super) fn between(first: &str, least: Option<&str>, second: Option<&str>) -> Self {
        let before = Self::before(first, second);
        let low = least.map_or(before.low, |least| pair(first, least));
        Self {
            low: low.min(before.high.clone()),
            high: before.high,
        }
    }

    /// From the first to the last.
    pub(super) fn forwards(&self) -> Range<'_> {
        self.range(false)
    }

    /// From the last to the first.
    pub(super) fn backwards(&self) -> Range<'_> {
        self.range(true)
    }

    fn range(&self, backwards: bool) -> Range<'_> {
        Range {
            from: Bound::Included(&self.low),
            to: Bound::Excluded(&self.high),
            backwards,
        }
    }
}
