//! Takes files out of a folder that a hostile program has filled, and may still be changing.
//!
//! No link is followed and no other file system entered. A file is taken only if all its hard links lie in
//! the folder: builds link their results, but a link to a file elsewhere would reveal that file. What was
//! seen at a path is compared with what is opened there, and again once it has been read to its end.

use std::collections::HashMap;
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{self, AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

mod content;
mod error;

pub use content::Content;
pub use error::{CollectError, SkipReason, Skipped};

use content::Seen;

/// Bounds of what is taken out of one folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectLimits {
    /// Files that are taken.
    pub files_max: usize,
    /// Bytes of one file.
    pub file_bytes_max: u64,
    /// Bytes of all files.
    pub bytes_max: u64,
    /// Names that are looked at, whether they are wanted or not.
    pub visited_max: usize,
    /// Folders above a file.
    pub depth_max: usize,
    /// Bytes of a path.
    pub name_bytes_max: usize,
    /// Bytes of the paths that are kept while it looks, of folders and of wanted files, each with [`PATH_BYTES`] more: it
    /// bounds the memory.
    pub names_bytes_max: usize,
    /// Skipped files that are listed; more are only counted.
    pub skipped_max: usize,
}

impl Default for CollectLimits {
    fn default() -> Self {
        Self {
            files_max: 10_000,
            file_bytes_max: 1 << 30,
            bytes_max: 2 << 30,
            visited_max: 1_000_000,
            depth_max: 64,
            name_bytes_max: 1024,
            names_bytes_max: 64 << 20,
            skipped_max: 100,
        }
    }
}

/// What a path takes that is kept, besides its text.
pub const PATH_BYTES: usize = 32;

/// A file that can be taken.
#[derive(Debug, Clone)]
pub struct Artifact {
    /// Its path in the folder: plain text, relative, without `..`.
    pub name: String,
    /// Its bytes.
    pub size: u64,
    seen: Seen,
}

/// What a folder has of what is wanted.
#[derive(Debug)]
pub struct Artifacts {
    /// What can be taken, sorted by name.
    pub files: Vec<Artifact>,
    /// What is wanted and left out, or may hide such; the first of them.
    pub skipped: Vec<Skipped>,
    /// How many more are left out.
    pub skipped_more: usize,
    dir: OwnedFd,
}

impl Artifacts {
    /// Opens one of the files. It yields exactly [`Artifact::size`] bytes, or an error.
    ///
    /// # Errors
    /// It is no longer as it was when it was found.
    pub fn open(&self, artifact: &Artifact) -> Result<Content, CollectError> {
        let name = &artifact.name;
        // Without blocking, in case a FIFO took its place.
        let flags =
            OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = fs::openat2(&self.dir, &**name, flags, Mode::empty(), BENEATH);
        let opened = opened.map_err(|error| CollectError::opening(name, error))?;
        Content::new(opened, artifact.seen).map_err(|error| CollectError::reading(name, error))
    }
}

const BENEATH: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS)
    .union(ResolveFlags::NO_XDEV);

/// Looks for files below `dir` whose paths are wanted. Such a path is relative, without `.` and `..`.
///
/// # Errors
/// The folder has more names than may be examined, or cannot be read. A problem with one file leaves out only
/// that file, see [`Artifacts::skipped`].
pub fn collect(
    dir: OwnedFd,
    is_wanted: &dyn Fn(&str) -> bool,
    limits: &CollectLimits,
) -> Result<Artifacts, CollectError> {
    let mut search = Search::new(is_wanted, None, limits);
    search.all(&dir)?;
    if !search.links.is_empty() {
        search.is_counting = true;
        search.all(&dir)?;
        search.is_counting = false;
    }
    let files = search.choose();
    Ok(Artifacts {
        files,
        skipped: search.skipped,
        skipped_more: search.skipped_more,
        dir,
    })
}

/// Shows `each` path below `dir` at which there is a file, in no order. Nothing is kept of them.
///
/// # Errors
/// The folder has more names than may be examined, or cannot be read.
pub fn each_file(
    dir: &OwnedFd,
    limits: &CollectLimits,
    each: &mut dyn FnMut(&str),
) -> Result<(), CollectError> {
    Search::new(&|_| false, Some(each), limits).all(dir)
}

struct Search<'a> {
    is_wanted: &'a dyn Fn(&str) -> bool,
    /// Is shown each file.
    each: Option<&'a mut dyn FnMut(&str)>,
    /// All names are looked at once more, only to find those of wanted files that have several.
    is_counting: bool,
    limits: &'a CollectLimits,
    visited: usize,
    names_bytes: usize,
    /// Folders still to be searched.
    folders: Vec<String>,
    found: Vec<Artifact>,
    /// For wanted files with several hard links, how many of them were found.
    links: HashMap<(u64, u64), u64>,
    skipped: Vec<Skipped>,
    skipped_more: usize,
}

impl<'a> Search<'a> {
    fn new(
        is_wanted: &'a dyn Fn(&str) -> bool,
        each: Option<&'a mut dyn FnMut(&str)>,
        limits: &'a CollectLimits,
    ) -> Self {
        Self {
            is_wanted,
            each,
            is_counting: false,
            limits,
            visited: 0,
            names_bytes: 0,
            folders: Vec::new(),
            found: Vec::new(),
            links: HashMap::new(),
            skipped: Vec::new(),
            skipped_more: 0,
        }
    }

    /// Looks at everything below `dir`.
    fn all(&mut self, dir: &OwnedFd) -> Result<(), CollectError> {
        (self.visited, self.names_bytes) = (0, 0);
        self.folders.push(String::new());
        while let Some(folder) = self.folders.pop() {
            self.folder(dir.as_fd(), &folder)?;
        }
        Ok(())
    }

    fn folder(&mut self, root: impl AsFd, path: &str) -> Result<(), CollectError> {
        let opened = open_folder(root, path);
        let opened = match opened {
            Ok(opened) => opened,
            Err(error) if path.is_empty() => return Err(CollectError::opening(".", error)),
            Err(Errno::XDEV) => {
                self.skip(path, SkipReason::OtherFileSystem);
                return Ok(());
            }
            Err(_) => {
                self.skip(path, SkipReason::Unreadable);
                return Ok(());
            }
        };
        let entries =
            Dir::read_from(&opened).map_err(|error| CollectError::opening(path, error))?;
        for entry in entries {
            let Ok(entry) = entry else {
                self.skip(path, SkipReason::Unreadable);
                break;
            };
            let name = entry.file_name();
            if name != c"." && name != c".." {
                self.entry(&opened, path, name)?;
            }
        }
        Ok(())
    }

    fn entry(&mut self, folder: &OwnedFd, path: &str, name: &CStr) -> Result<(), CollectError> {
        let max = self.limits.visited_max;
        self.visited += 1;
        if self.visited > max {
            return Err(CollectError::TooManyNames { max });
        }
        let last = name.to_string_lossy();
        let full = match path {
            "" => last.to_string(),
            _ => format!("{path}/{last}"),
        };
        let Ok(stat) = fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) else {
            self.skip(&full, SkipReason::Unreadable);
            return Ok(());
        };
        let is_plain = name.to_str().is_ok() && !full.chars().any(char::is_control);
        let is_short = full.len() <= self.limits.name_bytes_max;
        match FileType::from_raw_mode(stat.st_mode) {
            _ if !is_plain => self.skip(&full, SkipReason::NameNotPlain),
            _ if !is_short => self.skip(&full, SkipReason::NameTooLong),
            FileType::Directory if full.split('/').count() > self.limits.depth_max => {
                self.skip(&full, SkipReason::TooDeep);
            }
            FileType::Directory => {
                self.count(&full)?;
                self.folders.push(full);
            }
            FileType::RegularFile => {
                self.file(full, Seen::of(&stat))?;
            }
            FileType::Symlink => self.skip(&full, SkipReason::Link),
            _ => self.skip(&full, SkipReason::Special),
        }
        Ok(())
    }

    fn file(&mut self, full: String, seen: Seen) -> Result<(), CollectError> {
        if self.is_counting {
            if let Some(found) = self.links.get_mut(&seen.inode()) {
                *found += 1;
            }
            return Ok(());
        }
        if let Some(each) = &mut self.each {
            each(&full);
        }
        if (self.is_wanted)(&full) {
            self.count(&full)?;
            if seen.links > 1 {
                self.links.insert(seen.inode(), 0);
            }
            self.found.push(Artifact {
                name: full,
                size: seen.size,
                seen,
            });
        }
        Ok(())
    }

    /// Counts a path that is kept in memory.
    fn count(&mut self, name: &str) -> Result<(), CollectError> {
        let max = self.limits.names_bytes_max;
        self.names_bytes += name.len() + PATH_BYTES;
        if self.names_bytes > max {
            return Err(CollectError::NamesTooLarge { max });
        }
        Ok(())
    }

    /// Notes what is left out, unless nobody asked for it.
    fn skip(&mut self, name: &str, reason: SkipReason) {
        if self.is_counting || !reason.may_hide_files() && !(self.is_wanted)(name) {
            return;
        }
        if self.skipped.len() == self.limits.skipped_max {
            self.skipped_more += 1;
            return;
        }
        self.skipped.push(Skipped {
            name: name.to_owned(),
            reason,
        });
    }

    /// The files that can be taken, within the bounds.
    fn choose(&mut self) -> Vec<Artifact> {
        let mut found = std::mem::take(&mut self.found);
        found.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        let mut bytes = 0_u64;
        let mut files = Vec::new();
        for artifact in found {
            let total = bytes.saturating_add(artifact.size);
            if artifact.seen.links > 1
                && self.links.get(&artifact.seen.inode()) != Some(&artifact.seen.links)
            {
                self.skip(&artifact.name, SkipReason::LinkedElsewhere);
            } else if artifact.size > self.limits.file_bytes_max {
                self.skip(&artifact.name, SkipReason::TooLarge);
            } else if total > self.limits.bytes_max || files.len() == self.limits.files_max {
                self.skip(&artifact.name, SkipReason::TooMuch);
            } else {
                bytes = total;
                files.push(artifact);
            }
        }
        files
    }
}

fn open_folder(root: impl AsFd, path: &str) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let path = if path.is_empty() { "." } else { path };
    fs::openat2(root, path, flags, Mode::empty(), BENEATH)
}

impl From<CollectError> for io::Error {
    fn from(error: CollectError) -> Self {
        Self::other(error)
    }
}
