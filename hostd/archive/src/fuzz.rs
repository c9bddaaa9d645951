//! Arbitrary bytes as an archive: what fuzzers and the seeded tests call.

use std::io::Cursor;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use crate::{Limits, inspect, unpack};

/// Small enough that every input is quick.
const LIMITS: Limits = Limits {
    packed_bytes_max: 1 << 20,
    unpacked_bytes_max: 1 << 20,
    entries_max: 200,
    name_bytes_max: 300,
    names_bytes_max: 10_000,
    depth_max: 12,
    ratio_max: 100,
    ratio_free_bytes: 1 << 18,
    text_bytes_max: 1000,
};

/// Inspects and unpacks `bytes` in an empty folder `around`: both passes agree, nothing is created beside the
/// folder that is given to them, everything in it has an allowed kind and mode, and a failure leaves nothing
/// behind.
///
/// # Panics
/// If one of these does not hold.
pub fn archive(bytes: &[u8], around: &Path) {
    let inside = around.join("inside");
    std::fs::create_dir(&inside).expect("the folder around is empty");
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let dir = rustix::fs::open(&inside, flags, Mode::empty()).expect("it was made just now");
    let inspected = inspect(Cursor::new(bytes), &LIMITS, None);
    let unpacked = unpack(Cursor::new(bytes), &LIMITS, dir);
    let seen = count(&inside);
    match (&inspected, &unpacked) {
        (Ok(inspected), Ok(unpacked)) => {
            assert_eq!(inspected.entries, unpacked.entries);
            assert_eq!(inspected.bytes, unpacked.bytes);
            assert_eq!(seen, unpacked.entries);
        }
        (Err(inspected), Err(unpacked)) => {
            assert_eq!(inspected.code(), unpacked.code());
            assert_eq!(seen, 0, "something is left");
        }
        _ => panic!("the passes differ: {inspected:?}, {unpacked:?}"),
    }
    let beside = std::fs::read_dir(around).expect("the folder around is there");
    assert_eq!(beside.count(), 1, "something was made beside the folder");
    std::fs::remove_dir_all(&inside).expect("it is ours");
}

/// How many files, folders and links there are below a folder, after checking that each has an allowed mode
/// and kind.
fn count(folder: &Path) -> usize {
    use std::os::unix::fs::PermissionsExt;
    let entries = std::fs::read_dir(folder).expect("a folder that was made can be read");
    let entries = entries.map(|entry| entry.expect("an entry can be read"));
    entries
        .map(|entry| {
            let about = entry.metadata().expect("an entry is there");
            let mode = about.permissions().mode() & 0o7777;
            let kind = about.file_type();
            if kind.is_symlink() {
                return 1;
            }
            assert!(mode == 0o755 || kind.is_file() && mode == 0o644);
            assert!(kind.is_file() || kind.is_dir());
            1 + if kind.is_dir() {
                count(&entry.path())
            } else {
                0
            }
        })
        .sum()
}
