//! A disk whose free space the test sets.

use std::sync::atomic::{AtomicU64, Ordering};

use tempfile::TempDir;

use super::*;

const MIB: u64 = 1 << 20;

struct Disk {
    dir: TempDir,
    free_mib: Arc<AtomicU64>,
    free_files: Arc<AtomicU64>,
    space: Arc<Space>,
}

impl Disk {
    fn new(total_mib: u64, floor_mib: u32, free_mib: u64) -> Self {
        let dir = TempDir::new().unwrap();
        let free = Arc::new(AtomicU64::new(free_mib));
        let free_files = Arc::new(AtomicU64::new(1000));
        let (shown, files) = (free.clone(), free_files.clone());
        let probe = move |_: &Path| {
            Ok(Room {
                free_bytes: shown.load(Ordering::Relaxed) * MIB,
                total_bytes: total_mib * MIB,
                free_files: files.load(Ordering::Relaxed),
                total_files: 1000,
            })
        };
        let config = DiskConfig {
            floor_mib,
            reserve_mib: 16,
        };
        let space = Space::with_probe(dir.path(), &config, Box::new(probe));
        Self {
            dir,
            free_mib: free,
            free_files,
            space,
        }
    }

    fn state(&self, free_mib: u64) -> State {
        self.free_mib.store(free_mib, Ordering::Relaxed);
        self.space.look().state
    }

    fn reserve_bytes(&self) -> Option<u64> {
        let meta = fs::metadata(self.dir.path().join(RESERVE_FILE));
        meta.ok().map(|meta| meta.len())
    }
}

#[test]
fn what_may_be_written_depends_on_what_is_free() {
    let disk = Disk::new(100_000, 100, 1000);
    for (free_mib, state) in [
        (1000, State::Ample),
        (200, State::Ample),
        (199, State::Low),
        (100, State::Low),
        (99, State::Tight),
        (16, State::Tight),
        (15, State::Reserve),
        (0, State::Reserve),
    ] {
        assert_eq!(disk.state(free_mib), state, "{free_mib}");
        assert_eq!(disk.space.admit(0).is_ok(), free_mib >= 100, "{free_mib}");
    }
    disk.free_mib.store(150, Ordering::Relaxed);
    disk.space.admit(50 * MIB).unwrap();
    let error = disk.space.admit(51 * MIB).unwrap_err();
    assert!(is_full(&error), "{error:?}");
    assert!(error.to_string().contains("disk.floor_mib"), "{error}");
}

#[test]
fn without_a_floor_it_is_a_tenth_of_the_disk_but_no_more_than_needed() {
    assert_eq!(Disk::new(1000, 0, 500).space.look().floor_bytes, 100 * MIB);
    let big = Disk::new(1 << 20, 0, 1 << 19);
    assert_eq!(big.space.look().floor_bytes, FLOOR_BYTES_AUTO_MAX);
    let tiny = Disk::new(48, 0, 48);
    assert_eq!(tiny.space.look().floor_bytes, 16 * MIB, "the reserve's");
}

#[test]
fn the_reserve_is_laid_by_given_up_and_laid_by_again() {
    let disk = Disk::new(1000, 100, 1000);
    assert_eq!(disk.reserve_bytes(), Some(16 * MIB));
    assert!(give_up_reserve(disk.dir.path()));
    assert!(!give_up_reserve(disk.dir.path()));
    assert_eq!(disk.state(16), State::Reserve);
    disk.space.tend();
    assert_eq!(disk.reserve_bytes(), None, "there is no room yet");
    assert_eq!(disk.state(1000), State::Reserve);
    disk.space.tend();
    assert_eq!(disk.reserve_bytes(), Some(16 * MIB));
    assert_eq!(disk.state(1000), State::Ample);
}

#[test]
fn half_a_reserve_is_made_whole() {
    let disk = Disk::new(1000, 100, 1000);
    fs::write(disk.dir.path().join(RESERVE_FILE), "x").unwrap();
    assert_eq!(disk.state(1000), State::Reserve);
    disk.space.tend();
    assert_eq!(disk.reserve_bytes(), Some(16 * MIB));
}

#[test]
fn a_full_disk_is_found_however_deep_it_is_told() {
    let full = || io::Error::from(ErrorKind::StorageFull);
    let other = io::Error::from(ErrorKind::NotFound);
    assert!(is_full(&full()));
    assert!(!is_full(&other));
    let deep = io::Error::other(Wrapped(Arc::new(full())));
    assert!(is_full(&deep), "{deep:?}");
    assert!(!is_full(&Wrapped(Arc::new(ErrorKind::NotFound.into()))));
}

/// An error of another layer, which keeps its cause to share it.
#[derive(Debug, thiserror::Error)]
#[error("write")]
struct Wrapped(#[source] Arc<io::Error>);

#[test]
fn the_real_disk_can_be_asked() {
    let room = room(Path::new(".")).unwrap();
    assert!(0 < room.total_bytes && room.free_bytes <= room.total_bytes);
}

#[test]
fn a_disk_that_can_have_hardly_any_more_files_is_nearly_full() {
    let disk = Disk::new(100_000, 100, 1000);
    disk.free_files.store(100, Ordering::Relaxed);
    assert_eq!(disk.state(1000), State::Ample);
    disk.space.admit(1).unwrap();
    disk.free_files.store(99, Ordering::Relaxed);
    assert_eq!(disk.state(1000), State::Tight);
    let refused = disk.space.admit(1).unwrap_err();
    assert!(is_full(&refused), "{refused}");
    assert!(refused.to_string().contains("remove files"), "{refused}");
    assert_eq!(files_floor(0), 0);
    assert_eq!(files_floor(u64::MAX), FREE_FILES_MAX);
    Space::boundless().admit(1 << 40).unwrap();
}
