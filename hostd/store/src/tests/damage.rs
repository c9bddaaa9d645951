//! Damaged files: whatever is wrong with one, either it is refused or everything that was stored is
//! there.

use std::path::Path;

use redb::{ReadableDatabase, ReadableTable};
use sha2::{Digest, Sha256};

use super::super::database::builder;
use super::super::{schema, seal};
use super::*;
use base::seeded::Random;

/// Damages of each kind.
const CASES: usize = 60;

/// A store with entries in many pages of several tables, closed cleanly.
async fn filled(dir: &Path) -> Vec<u8> {
    let store = Store::open(dir, 4).unwrap();
    for n in 0..300u32 {
        let value = vec![n.to_le_bytes()[0]; 200 + n as usize];
        let key = format!("key {n}");
        store.kv_put(&space(), &key, value).await.unwrap();
        if n % 10 == 0 {
            let org = orgs::Org {
                id: format!("org {n}"),
                name: format!("name {n}"),
                created_ms: 1,
                trusted_refs: Vec::new(),
            };
            store.org_ensure(org).await.unwrap();
        }
    }
    store.close().await.unwrap();
    std::fs::read(dir.join(folder::STORE)).unwrap()
}

/// Of all entries of all tables.
fn digest(store: &Store) -> Vec<u8> {
    let snapshot = store.snapshot().unwrap();
    let mut hash = Sha256::new();
    for name in schema::table_names() {
        hash.update(name);
        let add = &mut |key: &str, value: &[u8]| {
            hash.update(key);
            hash.update(value);
            Ok(std::ops::ControlFlow::Continue(()))
        };
        snapshot::Source::scan(&snapshot, name, snapshot::Range::ALL, add).unwrap();
    }
    hash.finalize().to_vec()
}

fn damage(good: &[u8], kind: usize, random: &mut Random) -> Vec<u8> {
    let mut bad = good.to_vec();
    let pages = good.len() / 4096;
    match kind {
        0 => {
            for _ in 0..30 {
                let at = random.index(bad.len());
                bad[at] ^= random.next().to_le_bytes()[0] | 1;
            }
        }
        1 => {
            let at = random.index(bad.len());
            bad[at] ^= 1 << random.below(8);
        }
        2 => {
            let at = random.index(pages) * 4096;
            bad[at..at + 4096].fill(0);
        }
        3 => bad.truncate(random.index(bad.len())),
        4 => {
            // A page that was written elsewhere.
            let (from, to) = (random.index(pages) * 4096, random.index(pages) * 4096);
            bad.copy_within(from..from + 4096, to);
        }
        _ => {
            let at = random.index(512);
            bad[at] = random.next().to_le_bytes()[0];
        }
    }
    bad
}

#[tokio::test]
async fn no_damage_panics_or_loses_anything_in_silence() {
    let dir = TempDir::new().unwrap();
    let good = filled(dir.path()).await;
    let path = dir.path().join(folder::STORE);
    let store = Store::open(dir.path(), 4).unwrap();
    let expected = digest(&store);
    drop(store);
    let mut random = Random(0x00dd_ba11);
    let (mut refused, mut whole) = (0, 0);
    for case in 0..CASES * 6 {
        let bad = damage(&good, case % 6, &mut random);
        std::fs::write(&path, &bad).unwrap();
        match Store::open(dir.path(), 4) {
            Ok(store) => {
                assert!(digest(&store) == expected, "case {case} lost something");
                whole += 1;
            }
            Err(error) => {
                assert!(
                    matches!(error, StoreError::Damaged { .. }),
                    "{case}: {error:?}"
                );
                assert!(error.to_string().contains("hostd restore"), "{error}");
                assert!(std::fs::read(&path).unwrap() == bad, "{case} was changed");
                refused += 1;
            }
        }
    }
    assert!(refused > CASES, "{refused} refused, {whole} whole");
}

#[tokio::test]
async fn entries_that_somebody_took_out_are_missed() {
    let dir = TempDir::new().unwrap();
    filled(dir.path()).await;
    let path = dir.path().join(folder::STORE);
    let tamper = |change: &dyn Fn(&redb::WriteTransaction)| {
        let file = std::fs::File::options().read(true).write(true).open(&path);
        let database = builder(1 << 20).create_file(file.unwrap()).unwrap();
        let txn = database.begin_write().unwrap();
        change(&txn);
        txn.commit().unwrap();
    };
    let refused = || Store::open(dir.path(), 4).unwrap_err().to_string();
    let definition = schema::Definition::new(orgs::TABLES[0]);
    tamper(&|txn| {
        let mut table = txn.open_table(definition).unwrap();
        let first = table.first().unwrap().unwrap().0.value().to_owned();
        table.remove(&*first).unwrap();
    });
    assert!(refused().contains("the table orgs has 29 entries where 30 were written"));
    tamper(&|txn| {
        let counts = br#"{"orgs":29}"#;
        let mut table = txn.open_table(seal::TABLE).unwrap();
        table.insert("counts", &counts[..]).unwrap();
    });
    assert!(refused().contains("its seal is broken"));
    tamper(&|txn| assert!(txn.delete_table(seal::TABLE).unwrap()));
    assert!(refused().contains("its seal is missing"));
}

#[tokio::test]
async fn a_file_of_the_version_before_gets_its_seal() {
    let dir = TempDir::new().unwrap();
    filled(dir.path()).await;
    let path = dir.path().join(folder::STORE);
    let file = std::fs::File::options().read(true).write(true).open(&path);
    let database = builder(1 << 20).create_file(file.unwrap()).unwrap();
    let txn = database.begin_write().unwrap();
    txn.delete_table(seal::TABLE).unwrap();
    txn.open_table(schema::META)
        .unwrap()
        .insert("schema_version", 2)
        .unwrap();
    txn.commit().unwrap();
    drop(database);
    Store::open(dir.path(), 4).unwrap().close().await.unwrap();
    let store = Store::open(dir.path(), 4).unwrap();
    let txn = store.database.begin_write().unwrap();
    txn.abort().unwrap();
    drop(store);
    let database = super::super::opening::look_at(&path, super::super::opening::Extent::All);
    let database = database.unwrap();
    assert_eq!(
        seal::compare(&database.begin_read().unwrap()).unwrap(),
        None
    );
}

#[test]
fn an_interrupted_first_start_is_begun_anew() {
    let dir = TempDir::new().unwrap();
    let half = dir.path().join(format!("{}.new-1", folder::STORE));
    std::fs::write(&half, "half").unwrap();
    drop(Store::open(dir.path(), 4).unwrap());
    let names: Vec<_> = std::fs::read_dir(dir.path()).unwrap().flatten().collect();
    assert_eq!(names.len(), 1, "{names:?}");
    assert_eq!(names[0].file_name(), folder::STORE);
}
