//! A disk in memory that fails or loses power when a test says so. For the tests of this crate and of
//! crates that store data in it.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use redb::StorageBackend;

use super::database::{Relief, builder};
use super::{Store, StoreError};

/// Clones are the same disk.
#[derive(Debug, Clone, Default)]
pub struct Disk(Arc<Mutex<Content>>);

#[derive(Debug, Default)]
struct Content {
    /// What a reader sees.
    live: Vec<u8>,
    /// The content at the last sync.
    durable: Vec<u8>,
    /// Writes since then: some, all or none of them survive a power loss.
    unsynced: Vec<(usize, Vec<u8>)>,
    /// Changes until the disk starts to fail; none = never.
    good_changes: Option<u32>,
    changes: u32,
    openings: u32,
}

impl Content {
    fn change(&mut self) -> io::Result<()> {
        self.changes += 1;
        match &mut self.good_changes {
            Some(0) => Err(io::ErrorKind::StorageFull.into()),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }
}

impl Disk {
    /// Number of changes made or attempted.
    #[must_use]
    pub fn changes(&self) -> u32 {
        self.with(|c| c.changes)
    }

    /// How often the database was opened on it.
    #[must_use]
    pub fn openings(&self) -> u32 {
        self.with(|c| c.openings)
    }

    fn with<T>(&self, f: impl FnOnce(&mut Content) -> T) -> T {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Fail after this many more changes; none = never.
    pub fn fail_after(&self, good_changes: Option<u32>) {
        self.with(|c| c.good_changes = good_changes);
    }

    /// The disk as it may be after a power loss, chosen by `seed`.
    #[must_use]
    pub fn after_power_loss(&self, seed: u64) -> Self {
        let mut random = seed | 1;
        self.with(|c| {
            let mut image = c.durable.clone();
            for (offset, data) in &c.unsynced {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                let end = offset + data.len();
                if random & 1 == 0 && end <= image.len() {
                    image[*offset..end].copy_from_slice(data);
                }
            }
            let content = Content {
                live: image.clone(),
                durable: image,
                ..Content::default()
            };
            Self(Arc::new(Mutex::new(content)))
        })
    }

    /// Open the store on it.
    ///
    /// # Errors
    /// The disk fails.
    pub fn open(&self) -> Result<Store, StoreError> {
        self.open_with(Box::new(|| false))
    }

    pub(crate) fn open_with(&self, relief: Relief) -> Result<Store, StoreError> {
        let disk = self.clone();
        let opener = move || {
            disk.with(|c| c.openings += 1);
            builder(1 << 20)
                .create_with_backend(disk.clone())
                .map_err(StoreError::from_redb)
        };
        Store::start(Box::new(opener), relief)
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        self.with(|c| Ok(c.live.len() as u64))
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.with(|c| {
            let from = index(offset);
            let there = c.live.get(from..from + out.len());
            out.copy_from_slice(there.ok_or(io::ErrorKind::UnexpectedEof)?);
            Ok(())
        })
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.with(|c| {
            c.change()?;
            let len = index(len);
            c.live.resize(len, 0);
            // A change of length counts as durable at once; redb syncs after it anyway.
            c.durable.resize(len, 0);
            Ok(())
        })
    }

    fn sync_data(&self) -> io::Result<()> {
        self.with(|c| {
            c.change()?;
            c.durable = c.live.clone();
            c.unsynced.clear();
            Ok(())
        })
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.with(|c| {
            c.change()?;
            let offset = index(offset);
            c.live[offset..offset + data.len()].copy_from_slice(data);
            c.unsynced.push((offset, data.to_vec()));
            Ok(())
        })
    }
}

fn index(offset: u64) -> usize {
    usize::try_from(offset).expect("what the test holds in memory can be counted")
}

/// Store any bytes as a record, or remove it, as another version or a mishap might.
///
/// # Errors
/// The storage failed.
pub async fn put_record(
    store: &Store,
    table: &'static str,
    key: &str,
    value: Option<&[u8]>,
) -> Result<(), StoreError> {
    let (key, value) = (key.to_owned(), value.map(<[u8]>::to_vec));
    let put = store.write(move |w| match &value {
        Some(value) => w.put(table, &key, value),
        None => w.remove(table, &key).map(drop),
    });
    put.await
}
