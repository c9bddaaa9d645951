//! What a jail takes of the disk: a tree that somebody may be changing, and files without a name.

use std::collections::HashSet;
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, chmod, fstat, openat, statat};
use serde::{Deserialize, Serialize};

/// Files, folders and links that are counted. More of them are too many.
pub const COUNTED_ENTRIES_MAX: usize = 1_000_000;

/// Folders within each other that are counted. Deeper ones are too deep.
pub const COUNTED_DEPTH_MAX: usize = 128;

/// The least that a file, folder or link counts for: it takes one of the files that a disk can have, however short it
/// is.
pub const ENTRY_BYTES: u64 = 4 << 10;

/// Files without a name that are told apart. More of them are too many.
const UNNAMED_MAX: usize = 100_000;

/// The unit of `st_blocks`, stat(2).
const BLOCK_BYTES: u64 = 512;

/// Whether the count goes on is asked after so many entries.
const ASK_EVERY: usize = 256;

/// What is taken of a disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Bytes of the disk, at least [`ENTRY_BYTES`] for each file, folder and link. A file with several names counts
    /// once.
    pub bytes: u64,
    /// Files, folders and links.
    pub files: u64,
    /// There was more, or deeper, than is counted.
    pub is_too_much: bool,
    /// There may be more: something is held where it cannot be counted.
    pub hides: bool,
}

/// What everything below a folder takes, when none of the processes is left that filled it. What its owner may not
/// read is opened up meanwhile.
///
/// # Errors
/// The folder cannot be read.
pub fn disk_use(folder: &Path) -> io::Result<Usage> {
    let mut goes_on = || true;
    let mut count = Count::new(&mut goes_on);
    count.opens_up = true;
    let root = open(CWD, folder)?;
    count.tree(root, COUNTED_DEPTH_MAX);
    Ok(count.usage)
}

/// A count on its way.
pub(crate) struct Count<'c> {
    pub(crate) usage: Usage,
    /// Those with several names, and those without any, by device and number.
    linked: HashSet<(u64, u64)>,
    unnamed: HashSet<(u64, u64)>,
    opens_up: bool,
    goes_on: &'c mut dyn FnMut() -> bool,
    seen: usize,
    pub(crate) is_interrupted: bool,
}

impl<'c> Count<'c> {
    /// A count that ends early once `goes_on` says no.
    pub(crate) fn new(goes_on: &'c mut dyn FnMut() -> bool) -> Self {
        Self {
            usage: Usage::default(),
            linked: HashSet::new(),
            unnamed: HashSet::new(),
            opens_up: false,
            goes_on,
            seen: 0,
            is_interrupted: false,
        }
    }

    /// Whether to go on, having seen one more of whatever is counted.
    pub(crate) fn goes_on(&mut self) -> bool {
        self.seen += 1;
        if self.seen.is_multiple_of(ASK_EVERY) && !(self.goes_on)() {
            self.is_interrupted = true;
        }
        !self.is_interrupted && !self.usage.is_too_much
    }

    /// Counts all that is below a folder. Holds one descriptor for each level. What goes away meanwhile is not
    /// counted.
    pub(crate) fn tree(&mut self, folder: OwnedFd, depth: usize) {
        let Ok(entries) = Dir::read_from(&folder) else {
            self.usage.hides = true;
            return;
        };
        for entry in entries {
            let Ok(entry) = entry else { break };
            let name = entry.file_name();
            if is_dots(name) {
                continue;
            }
            if !self.goes_on() {
                return;
            }
            match statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(meta) => {
                    self.named(&meta);
                    if FileType::from_raw_mode(meta.st_mode) == FileType::Directory {
                        self.below(&folder, name, depth);
                    }
                }
                Err(rustix::io::Errno::ACCESS) => self.usage.hides = true,
                Err(_) => {}
            }
        }
    }

    fn below(&mut self, folder: &OwnedFd, name: &CStr, depth: usize) {
        if depth == 0 {
            self.usage.is_too_much = true;
            return;
        }
        match open(folder, name) {
            Ok(below) => self.tree(below, depth - 1),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let opened = self.opens_up.then(|| OpenedUp::new(folder, name));
                match opened.and_then(Result::ok) {
                    Some(opened) => {
                        if let Ok(below) = opened.folder() {
                            self.tree(below, depth - 1);
                        }
                    }
                    None => self.usage.hides = true,
                }
            }
            Err(_) => {}
        }
    }

    fn named(&mut self, meta: &Stat) {
        self.usage.files += 1;
        if COUNTED_ENTRIES_MAX as u64 <= self.usage.files {
            self.usage.is_too_much = true;
        }
        let is_folder = FileType::from_raw_mode(meta.st_mode) == FileType::Directory;
        if is_folder || meta.st_nlink < 2 || self.linked.insert(identity(meta)) {
            self.usage.bytes = self.usage.bytes.saturating_add(taken(meta));
        }
    }

    /// Counts a file that has no name, unless it was counted already.
    pub(crate) fn unnamed(&mut self, meta: &Stat) {
        if !self.unnamed.insert(identity(meta)) {
            return;
        }
        self.usage.files += 1;
        self.usage.bytes = self.usage.bytes.saturating_add(taken(meta));
        if UNNAMED_MAX < self.unnamed.len() {
            self.usage.is_too_much = true;
        }
    }

    /// Whether a file without a name, with this number, was counted.
    pub(crate) fn has_unnamed(&self, number: u64) -> bool {
        self.unnamed.iter().any(|(_, known)| *known == number)
    }
}

/// A folder that its owner may read until this is dropped, though it did not let itself before.
struct OpenedUp {
    path: String,
    _folder: OwnedFd,
    mode: Mode,
}

impl OpenedUp {
    fn new(at: impl AsFd, name: &CStr) -> io::Result<Self> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::PATH | OFlags::CLOEXEC;
        let folder = openat(at, name, flags, Mode::empty())?;
        let mode = Mode::from_raw_mode(fstat(&folder)?.st_mode);
        let path = format!("/proc/self/fd/{}", folder.as_raw_fd());
        chmod(&path, mode | Mode::RUSR | Mode::XUSR)?;
        Ok(Self {
            path,
            _folder: folder,
            mode,
        })
    }

    fn folder(&self) -> io::Result<OwnedFd> {
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        Ok(openat(CWD, &self.path, flags, Mode::empty())?)
    }
}

impl Drop for OpenedUp {
    fn drop(&mut self) {
        // It was possible a moment ago; a folder that stays readable does no harm.
        let _ = chmod(&self.path, self.mode);
    }
}

/// Opens a folder, and no link to one.
pub(crate) fn open(at: impl AsFd, name: impl rustix::path::Arg) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
    Ok(openat(at, name, flags, Mode::empty())?)
}

fn taken(meta: &Stat) -> u64 {
    let blocks = u64::try_from(meta.st_blocks).unwrap_or(0);
    blocks.saturating_mul(BLOCK_BYTES).max(ENTRY_BYTES)
}

#[expect(
    clippy::unnecessary_cast,
    reason = "the widths depend on the processor"
)]
fn identity(meta: &Stat) -> (u64, u64) {
    (meta.st_dev as u64, meta.st_ino as u64)
}

fn is_dots(name: &CStr) -> bool {
    matches!(name.to_bytes(), b"." | b"..")
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const MIB: usize = 1 << 20;

    #[test]
    fn what_a_tree_takes_is_what_its_files_take_and_a_little_for_each() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = || disk_use(folder.path()).unwrap().bytes;
        assert_eq!(bytes(), 0);
        fs::write(folder.path().join("big"), vec![7; MIB]).unwrap();
        let big = bytes();
        assert!((MIB as u64..2 * MIB as u64).contains(&big), "{big}");
        // Another name of the same file, a hole, and files that are empty.
        fs::hard_link(folder.path().join("big"), folder.path().join("again")).unwrap();
        assert_eq!(bytes(), big);
        let hole = fs::File::create(folder.path().join("hole")).unwrap();
        hole.set_len(1 << 40).unwrap();
        assert_eq!(bytes(), big + ENTRY_BYTES);
        for n in 0..1000 {
            fs::write(folder.path().join(format!("{n}")), "").unwrap();
        }
        let usage = disk_use(folder.path()).unwrap();
        assert_eq!(usage.bytes, big + 1001 * ENTRY_BYTES);
        assert_eq!(usage.files, 1003);
        assert!(!usage.hides && !usage.is_too_much);
    }

    #[test]
    fn a_folder_that_nobody_may_read_is_counted_and_stays_so() {
        let folder = tempfile::tempdir().unwrap();
        let closed = folder.path().join("closed/sub");
        fs::create_dir_all(&closed).unwrap();
        fs::write(closed.join("big"), vec![7; MIB]).unwrap();
        let modes = [
            (closed.clone(), 0o000),
            (folder.path().join("closed"), 0o200),
        ];
        for (path, mode) in &modes {
            fs::set_permissions(path, Permissions::from_mode(*mode)).unwrap();
        }
        let usage = disk_use(folder.path()).unwrap();
        assert!(usage.bytes > MIB as u64 && !usage.hides, "{usage:?}");
        for (path, mode) in modes.iter().rev() {
            let found = path.metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!(found, *mode);
            fs::set_permissions(path, Permissions::from_mode(0o700)).unwrap();
        }
    }

    #[test]
    fn too_deep_is_too_much() {
        let folder = tempfile::tempdir().unwrap();
        let mut path = folder.path().to_owned();
        for _ in 0..COUNTED_DEPTH_MAX {
            path.push("d");
        }
        fs::create_dir_all(&path).unwrap();
        assert!(!disk_use(folder.path()).unwrap().is_too_much);
        fs::create_dir(path.join("d")).unwrap();
        assert!(disk_use(folder.path()).unwrap().is_too_much);
    }

    #[test]
    fn a_count_ends_when_it_is_asked_to() {
        let folder = tempfile::tempdir().unwrap();
        for n in 0..ASK_EVERY + 10 {
            fs::write(folder.path().join(format!("{n}")), "").unwrap();
        }
        let mut goes_on = || false;
        let mut count = Count::new(&mut goes_on);
        count.tree(open(CWD, folder.path()).unwrap(), 1);
        assert!(count.is_interrupted);
        assert!(count.usage.files < ASK_EVERY as u64 + 1);
    }
}
