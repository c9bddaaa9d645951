//! Copies a committed state into a new file, table by table, while writes go on.

use std::collections::BTreeMap;
use std::path::Path;

use redb::{ReadableDatabase, ReadableTable, TableError};

use super::database::builder;
use super::error::StoreError;
use super::opening::{self, Extent};
use super::schema::{self, Definition, META};
use super::snapshot::Snapshot;
use super::{records, seal};
use base::private;

/// Page cache of the copy.
const CACHE_BYTES: usize = 16 << 20;

/// Bytes of one transaction of the copy.
const PORTION_BYTES: usize = 4 << 20;

/// A checked database file, opened for reading. Nothing in the file changes.
#[derive(Debug)]
pub struct Looked(redb::Database);

/// Check all of the database in the file at `path` and open it for reading.
///
/// # Errors
/// It is damaged, in use, newer than this program, or cannot be read.
pub fn look(path: &Path) -> Result<Looked, StoreError> {
    opening::look_at(path, Extent::All).map(Looked)
}

impl Looked {
    /// What it holds.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn snapshot(&self) -> Result<Snapshot, StoreError> {
        let txn = self.0.begin_read().map_err(StoreError::from_redb)?;
        Ok(Snapshot::new(txn))
    }
}

impl Snapshot {
    /// Write all of it to a new file at `path`; returns the number of entries of each table.
    ///
    /// # Errors
    /// The file already exists, or the disk or the store fails.
    pub fn copy_to(&self, path: &Path) -> Result<BTreeMap<String, u64>, StoreError> {
        let file = private::make_file(path).map_err(|source| StoreError::OpenFile {
            path: path.to_owned(),
            source: source.into(),
        })?;
        let target = builder(CACHE_BYTES).create_file(file);
        let target = target.map_err(StoreError::from_redb)?;
        let mut counts = BTreeMap::new();
        for name in schema::table_names() {
            let count = self.copy_table(Definition::new(name), &target)?;
            counts.insert(name.to_owned(), count);
        }
        self.copy_table(seal::TABLE, &target)?;
        let txn = target.begin_write().map_err(StoreError::from_redb)?;
        {
            let from = self.txn().open_table(META).map_err(StoreError::from_redb)?;
            let mut to = txn.open_table(META).map_err(StoreError::from_redb)?;
            for entry in from.iter().map_err(StoreError::from_redb)? {
                let (key, value) = entry.map_err(StoreError::from_redb)?;
                to.insert(key.value(), value.value())
                    .map_err(StoreError::from_redb)?;
            }
        }
        txn.commit().map_err(StoreError::from_redb)?;
        Ok(counts)
    }

    fn copy_table(&self, table: Definition, target: &redb::Database) -> Result<u64, StoreError> {
        let from = self.txn().open_table(table);
        let from = from.map_err(StoreError::from_redb)?;
        let mut entries = from.iter().map_err(StoreError::from_redb)?;
        let mut count = 0;
        loop {
            let txn = target.begin_write().map_err(StoreError::from_redb)?;
            let mut bytes = 0;
            let mut is_end = false;
            {
                let mut to = txn.open_table(table).map_err(StoreError::from_redb)?;
                while bytes < PORTION_BYTES && !is_end {
                    let Some(entry) = entries.next() else {
                        is_end = true;
                        continue;
                    };
                    let (key, value) = entry.map_err(StoreError::from_redb)?;
                    let (key, value) = (key.value(), value.value());
                    to.insert(key, value).map_err(StoreError::from_redb)?;
                    bytes += key.len() + value.len();
                    count += 1;
                }
            }
            txn.commit().map_err(StoreError::from_redb)?;
            if is_end {
                return Ok(count);
            }
        }
    }

    /// Parse every record; returns their number. `fault` is called for each that does not parse.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn parse_all(&self, fault: &mut dyn FnMut(StoreError)) -> Result<u64, StoreError> {
        let mut count = 0;
        for name in schema::json_table_names() {
            let opened = match self.txn().open_table(Definition::new(name)) {
                Ok(opened) => opened,
                // A file of an earlier version has fewer.
                Err(TableError::TableDoesNotExist(_)) => continue,
                Err(error) => return Err(StoreError::from_redb(error)),
            };
            for entry in opened.iter().map_err(StoreError::from_redb)? {
                let (key, value) = entry.map_err(StoreError::from_redb)?;
                count += 1;
                if let Err(error) = records::is_json(name, key.value(), value.value()) {
                    fault(error);
                }
            }
        }
        Ok(count)
    }
}
