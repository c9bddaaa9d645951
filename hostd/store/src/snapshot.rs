//! Reading: one committed state, seen whole. [`Source`] lets the same reading function work on a
//! snapshot and inside a write.

use std::ops::{Bound, ControlFlow};

use redb::{ReadableTable, ReadableTableMetadata, TableError};

use super::error::StoreError;
use super::schema::Definition;

/// A committed state. Cheap, but it keeps old disk pages from being reused while it lives: keep it
/// short.
pub struct Snapshot(redb::ReadTransaction);

impl Snapshot {
    pub(super) fn new(txn: redb::ReadTransaction) -> Self {
        Self(txn)
    }

    pub(super) fn txn(&self) -> &redb::ReadTransaction {
        &self.0
    }
}

/// Keys from the first bound to the second, in the order of [`Range::backwards`].
#[derive(Debug, Clone, Copy)]
pub struct Range<'k> {
    pub(super) from: Bound<&'k str>,
    pub(super) to: Bound<&'k str>,
    /// Highest key first.
    pub(super) backwards: bool,
}

impl Range<'_> {
    pub(super) const ALL: Self = Self {
        from: Bound::Unbounded,
        to: Bound::Unbounded,
        backwards: false,
    };
}

/// What [`Source::scan`] calls for each key and value.
pub(super) type Visit<'v> = dyn FnMut(&str, &[u8]) -> Result<ControlFlow<()>, StoreError> + 'v;

/// Anything that tables can be read from. `visit` must not read from the source again.
pub trait Source {
    #[doc(hidden)]
    fn value(&self, table: &'static str, key: &str) -> Result<Option<Vec<u8>>, StoreError>;

    #[doc(hidden)]
    fn scan(
        &self,
        table: &'static str,
        range: Range<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<(), StoreError>;

    #[doc(hidden)]
    fn count(&self, table: &'static str) -> Result<u64, StoreError>;
}

impl Source for Snapshot {
    fn value(&self, table: &'static str, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let table = self
            .0
            .open_table(Definition::new(table))
            .map_err(StoreError::from_redb)?;
        value_in(&table, key)
    }

    fn scan(
        &self,
        table: &'static str,
        range: Range<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<(), StoreError> {
        match self.0.open_table(Definition::new(table)) {
            Ok(table) => scan_in(&table, range, visit),
            // A file of an earlier version, which is only looked at, has fewer.
            Err(TableError::TableDoesNotExist(_)) => Ok(()),
            Err(error) => Err(StoreError::from_redb(error)),
        }
    }

    fn count(&self, table: &'static str) -> Result<u64, StoreError> {
        let table = self
            .0
            .open_table(Definition::new(table))
            .map_err(StoreError::from_redb)?;
        table.len().map_err(StoreError::from_redb)
    }
}

pub(super) fn value_in(
    table: &impl ReadableTable<&'static str, &'static [u8]>,
    key: &str,
) -> Result<Option<Vec<u8>>, StoreError> {
    let value = table.get(key).map_err(StoreError::from_redb)?;
    Ok(value.map(|v| v.value().to_vec()))
}

pub(super) fn scan_in(
    table: &impl ReadableTable<&'static str, &'static [u8]>,
    range: Range<'_>,
    visit: &mut Visit<'_>,
) -> Result<(), StoreError> {
    let mut found = table
        .range::<&str>((range.from, range.to))
        .map_err(StoreError::from_redb)?;
    loop {
        let next = if range.backwards {
            found.next_back()
        } else {
            found.next()
        };
        let Some(entry) = next else { return Ok(()) };
        let (key, value) = entry.map_err(StoreError::from_redb)?;
        if visit(key.value(), value.value())?.is_break() {
            return Ok(());
        }
    }
}
