//! Writing: what a closure sees of the write transaction it runs in.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use redb::{ReadableTable, ReadableTableMetadata};

use super::error::StoreError;
use super::schema::Definition;
use super::seal;
use super::snapshot::{Range, Source, Visit, scan_in, value_in};

type Table<'t> = redb::Table<'t, &'static str, &'static [u8]>;

/// The write transaction of one group commit. Reads see its earlier writes.
pub(super) struct Writing<'t> {
    txn: &'t redb::WriteTransaction,
    /// Whether the running closure has changed anything.
    dirty: Cell<bool>,
    /// Tables that any closure has changed.
    touched: RefCell<BTreeSet<&'static str>>,
    /// The storage's own failure, after which the whole transaction is void.
    failure: RefCell<Option<StoreError>>,
}

impl<'t> Writing<'t> {
    pub(super) fn new(txn: &'t redb::WriteTransaction) -> Self {
        Self {
            txn,
            dirty: Cell::new(false),
            touched: RefCell::default(),
            failure: RefCell::new(None),
        }
    }

    /// Whether anything was changed since the last call.
    pub(super) fn take_dirty(&self) -> bool {
        self.dirty.take()
    }

    pub(super) fn take_failure(&self) -> Option<StoreError> {
        self.failure.take()
    }

    pub(super) fn put(
        &self,
        table: &'static str,
        key: &str,
        value: &[u8],
    ) -> Result<(), StoreError> {
        self.with(table, |t| {
            t.insert(key, value).map_err(StoreError::from_redb)?;
            self.changed(table);
            Ok(())
        })
    }

    /// Remove a key; returns whether it existed.
    pub(super) fn remove(&self, table: &'static str, key: &str) -> Result<bool, StoreError> {
        self.with(table, |t| {
            if t.get(key).map_err(StoreError::from_redb)?.is_none() {
                return Ok(false);
            }
            t.remove(key).map_err(StoreError::from_redb)?;
            self.changed(table);
            Ok(true)
        })
    }

    fn changed(&self, table: &'static str) {
        self.dirty.set(true);
        self.touched.borrow_mut().insert(table);
    }

    /// Seal the changes. Call last in a transaction.
    pub(super) fn seal(&self) -> Result<(), StoreError> {
        seal::update(self.txn, &self.touched.borrow())
    }

    fn with<T>(
        &self,
        table: &'static str,
        f: impl FnOnce(&mut Table<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let result = self
            .txn
            .open_table(Definition::new(table))
            .map_err(StoreError::from_redb)
            .and_then(|mut table| f(&mut table));
        if let Err(error) = &result
            && error.poisons()
        {
            *self.failure.borrow_mut() = Some(error.clone());
        }
        result
    }
}

impl Source for Writing<'_> {
    fn value(&self, table: &'static str, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.with(table, |t| value_in(t, key))
    }

    fn scan(
        &self,
        table: &'static str,
        range: Range<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<(), StoreError> {
        self.with(table, |t| scan_in(t, range, visit))
    }

    fn count(&self, table: &'static str) -> Result<u64, StoreError> {
        self.with(table, |t| t.len().map_err(StoreError::from_redb))
    }
}
