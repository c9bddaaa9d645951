//! A sealed count of each table's entries: written in the transaction that changes them, checked
//! when the store is opened. A database that lost entries, by damage or by hand, is not mistaken
//! for one that never had them.

use std::collections::{BTreeMap, BTreeSet};

use hmac::{Hmac, KeyInit, Mac};
use redb::{ReadTransaction, ReadableTable, ReadableTableMetadata, TableDefinition, TableError};
use sha2::Sha256;

use super::error::StoreError;
use super::schema::{self, Definition};

/// The seal's own table, which it does not count.
pub(super) const TABLE: TableDefinition<'static, &'static str, &'static [u8]> =
    TableDefinition::new("seal");

/// 32 random bytes, made with the database.
const KEY: &str = "key";
/// Table to number, as JSON.
const COUNTS: &str = "counts";
/// HMAC-SHA-256 of the counts.
const MAC: &str = "mac";

type Counts = BTreeMap<String, u64>;

/// Count every table and seal the counts. For a new database, and after a migration.
pub(super) fn renew(txn: &redb::WriteTransaction) -> Result<(), StoreError> {
    let mut counts = Counts::new();
    for name in schema::table_names() {
        let table = txn.open_table(Definition::new(name));
        let table = table.map_err(StoreError::from_redb)?;
        let count = table.len().map_err(StoreError::from_redb)?;
        counts.insert(name.to_owned(), count);
    }
    put(txn, &counts)
}

/// Reseal the counts when only the tables `touched` have changed.
pub(super) fn update(
    txn: &redb::WriteTransaction,
    touched: &BTreeSet<&'static str>,
) -> Result<(), StoreError> {
    let sealed = {
        let table = txn.open_table(TABLE).map_err(StoreError::from_redb)?;
        let sealed = table.get(COUNTS).map_err(StoreError::from_redb)?;
        sealed.and_then(|bytes| serde_json::from_slice::<Counts>(bytes.value()).ok())
    };
    let Some(mut counts) = sealed else {
        return renew(txn);
    };
    for name in touched {
        let table = txn.open_table(Definition::new(name));
        let table = table.map_err(StoreError::from_redb)?;
        let count = table.len().map_err(StoreError::from_redb)?;
        counts.insert((*name).to_owned(), count);
    }
    put(txn, &counts)
}

fn put(txn: &redb::WriteTransaction, counts: &Counts) -> Result<(), StoreError> {
    let text = serde_json::to_vec(counts).expect("names and numbers are JSON");
    let mut table = txn.open_table(TABLE).map_err(StoreError::from_redb)?;
    let key = table.get(KEY).map_err(StoreError::from_redb)?;
    let key = key.map(|bytes| bytes.value().to_vec());
    let key = match key {
        Some(key) => key,
        None => {
            let mut key = [0; 32];
            getrandom::fill(&mut key).expect("the system has random numbers");
            table.insert(KEY, &key[..]).map_err(StoreError::from_redb)?;
            key.to_vec()
        }
    };
    let mac = mac(&key, &text).finalize().into_bytes();
    for (name, value) in [(COUNTS, &text[..]), (MAC, &mac[..])] {
        table.insert(name, value).map_err(StoreError::from_redb)?;
    }
    Ok(())
}

/// Compare the tables with the seal. None = they agree; otherwise a text says what does not.
pub(super) fn compare(txn: &ReadTransaction) -> Result<Option<String>, StoreError> {
    let table = match txn.open_table(TABLE) {
        Ok(table) => table,
        Err(TableError::TableDoesNotExist(_)) => return Ok(Some("its seal is missing".into())),
        Err(error) => return Err(StoreError::from_redb(error)),
    };
    let value = |name| -> Result<Vec<u8>, StoreError> {
        let found = table.get(name).map_err(StoreError::from_redb)?;
        Ok(found.map_or_else(Vec::new, |bytes| bytes.value().to_vec()))
    };
    let text = value(COUNTS)?;
    let sealed = mac(&value(KEY)?, &text).verify_slice(&value(MAC)?);
    let counts: Option<Counts> = serde_json::from_slice(&text).ok();
    let (Ok(()), Some(counts)) = (sealed, counts) else {
        return Ok(Some("its seal is broken".into()));
    };
    for name in schema::table_names() {
        let sealed = counts.get(name).copied();
        let found = match txn.open_table(Definition::new(name)) {
            Ok(table) => Some(table.len().map_err(StoreError::from_redb)?),
            Err(TableError::TableDoesNotExist(_)) => None,
            Err(error) => return Err(StoreError::from_redb(error)),
        };
        if found != sealed {
            let number = |n: Option<u64>| n.map_or_else(|| "none".to_owned(), |n| n.to_string());
            let (found, sealed) = (number(found), number(sealed));
            return Ok(Some(format!(
                "the table {name} has {found} entries where {sealed} were written"
            )));
        }
    }
    Ok(None)
}

fn mac(key: &[u8], text: &[u8]) -> Hmac<Sha256> {
    let mac = Hmac::<Sha256>::new_from_slice(key);
    let mut mac = mac.expect("HMAC takes keys of any length");
    mac.update(text);
    mac
}
