//! Which tables exist, and how an older file is migrated.

use redb::{ReadableDatabase, TableDefinition, TableError};
use tracing::info;

use super::error::StoreError;
use super::{
    badges, builds, captures, codes, commit_statuses, devices, emi, handler_kv, jobs, keys, leases,
    measurements, notices, org_secrets, orgs, plugins, refreshes, revocations, seal, secrets,
    trust, updates, users, waveforms, webhooks,
};

/// Version of the schema that this program writes.
pub const SCHEMA_VERSION: u32 = 10;

/// First version whose entry counts are sealed.
pub(super) const SEALED_SINCE: u32 = 3;

/// All tables have this shape: text keys, JSON values (raw bytes in `handler_kv`).
pub(super) type Definition = TableDefinition<'static, &'static str, &'static [u8]>;

pub(super) const META: TableDefinition<'static, &'static str, u32> = TableDefinition::new("meta");
const VERSION_KEY: &str = "schema_version";

/// Every table: what a reader may expect and a new file gets.
const TABLES: &[&[&str]] = &[
    &badges::TABLES,
    &builds::TABLES,
    &captures::TABLES,
    &codes::TABLES,
    &commit_statuses::TABLES,
    &devices::TABLES,
    &emi::TABLES,
    &handler_kv::TABLES,
    &jobs::TABLES,
    &keys::TABLES,
    &leases::TABLES,
    &measurements::TABLES,
    &notices::TABLES,
    &org_secrets::TABLES,
    &orgs::TABLES,
    &plugins::TABLES,
    &refreshes::TABLES,
    &revocations::TABLES,
    &secrets::TABLES,
    &trust::TABLES,
    &updates::TABLES,
    &users::TABLES,
    &waveforms::TABLES,
    &webhooks::TABLES,
];

type Migration = fn(&redb::WriteTransaction) -> Result<(), StoreError>;

/// Step `i` turns version `i` into `i + 1`. Version 0 is an empty file. Never edit a step that has
/// shipped; add one. A version that only adds tables creates those that are missing.
const MIGRATIONS: [Migration; SCHEMA_VERSION as usize] = [create_tables; SCHEMA_VERSION as usize];

/// Bring `database` to [`SCHEMA_VERSION`], in one transaction; writes nothing if it is already
/// there.
pub(super) fn migrate(database: &redb::Database) -> Result<(), StoreError> {
    migrate_with(database, &MIGRATIONS)
}

fn migrate_with(database: &redb::Database, steps: &[Migration]) -> Result<(), StoreError> {
    let found = version(database)?;
    let from = found as usize;
    if from > steps.len() {
        return Err(StoreError::NewerSchema { found });
    }
    if from == steps.len() {
        return Ok(());
    }
    let txn = database.begin_write().map_err(StoreError::from_redb)?;
    for step in &steps[from..] {
        step(&txn)?;
    }
    let to = u32::try_from(steps.len()).expect("there are few migrations");
    txn.open_table(META)
        .map_err(StoreError::from_redb)?
        .insert(VERSION_KEY, to)
        .map_err(StoreError::from_redb)?;
    seal::renew(&txn)?;
    txn.commit().map_err(StoreError::from_redb)?;
    if found > 0 {
        info!(from = found, to, "brought the store's schema up to date");
    }
    Ok(())
}

pub(super) fn version(database: &impl ReadableDatabase) -> Result<u32, StoreError> {
    let txn = database.begin_read().map_err(StoreError::from_redb)?;
    match txn.open_table(META) {
        Ok(table) => {
            let version = table.get(VERSION_KEY).map_err(StoreError::from_redb)?;
            Ok(version.map_or(0, |v| v.value()))
        }
        Err(TableError::TableDoesNotExist(_)) => Ok(0),
        Err(error) => Err(StoreError::from_redb(error)),
    }
}

fn create_tables(txn: &redb::WriteTransaction) -> Result<(), StoreError> {
    for name in table_names() {
        txn.open_table(Definition::new(name))
            .map_err(StoreError::from_redb)?;
    }
    Ok(())
}

/// Every table that holds stored data.
pub(super) fn table_names() -> impl Iterator<Item = &'static str> {
    TABLES.iter().copied().flatten().copied()
}

/// The tables whose values are JSON.
pub(super) fn json_table_names() -> impl Iterator<Item = &'static str> {
    table_names().filter(|name| !handler_kv::TABLES.contains(name))
}

#[cfg(test)]
mod tests {
    use redb::backends::InMemoryBackend;

    use super::*;

    fn empty() -> redb::Database {
        redb::Builder::new()
            .create_with_backend(InMemoryBackend::new())
            .unwrap()
    }

    #[test]
    fn an_empty_file_gets_every_table_once() {
        let database = empty();
        migrate(&database).unwrap();
        migrate(&database).unwrap();
        assert_eq!(version(&database).unwrap(), SCHEMA_VERSION);
        let txn = database.begin_read().unwrap();
        for name in TABLES.iter().copied().flatten() {
            txn.open_table(Definition::new(name)).unwrap();
        }
    }

    #[test]
    fn a_newer_file_is_refused_by_name_of_version() {
        let database = empty();
        let mut newer = MIGRATIONS.to_vec();
        newer.push(|_| Ok(()));
        migrate_with(&database, &newer).unwrap();
        let error = migrate(&database).unwrap_err();
        assert!(matches!(error, StoreError::NewerSchema { found } if found == SCHEMA_VERSION + 1));
        let told = format!(
            "version {} is newer than {SCHEMA_VERSION}",
            SCHEMA_VERSION + 1
        );
        assert!(error.to_string().contains(&told), "{error}");
    }

    #[test]
    fn only_missing_steps_run_and_a_failed_one_leaves_nothing() {
        const MARK: TableDefinition<'static, &'static str, u32> = TableDefinition::new("mark");
        let database = empty();
        migrate(&database).unwrap();
        let mark: Migration = |txn| {
            txn.open_table(MARK).map_err(StoreError::from_redb)?;
            Ok(())
        };
        let fails: Migration = |_| Err(StoreError::Closed);
        let mut steps = MIGRATIONS.to_vec();
        steps.extend([mark, fails]);
        let failed = migrate_with(&database, &steps);
        assert!(matches!(failed, Err(StoreError::Closed)));
        assert_eq!(version(&database).unwrap(), SCHEMA_VERSION);
        assert!(database.begin_read().unwrap().open_table(MARK).is_err());
        let never: Migration = |_| Err(StoreError::Closed);
        let mut steps = vec![never; MIGRATIONS.len()];
        steps.push(mark);
        migrate_with(&database, &steps).unwrap();
        assert_eq!(version(&database).unwrap(), SCHEMA_VERSION + 1);
        assert!(database.begin_read().unwrap().open_table(MARK).is_ok());
    }

    #[test]
    fn a_file_without_newer_tables_has_nothing_in_them() {
        let database = empty();
        database.begin_write().unwrap().commit().unwrap();
        let snapshot = super::super::Snapshot::new(database.begin_read().unwrap());
        assert!(
            super::super::plugins::components(&snapshot)
                .unwrap()
                .is_empty()
        );
    }
}
