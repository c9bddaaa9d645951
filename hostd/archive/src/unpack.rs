//! The second pass: writes below one folder, whatever else happens on this machine in the meantime.
//!
//! The folder is entered anew by `openat2` with `RESOLVE_BENEATH` for each path, so that nothing that
//! somebody puts in the way leads out of it. Every file is created, an existing one is never opened, and
//! symbolic links come last.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{self, AtFlags, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use crate::Limits;
use crate::content::{Content, PIECE_BYTES};
use crate::error::{ArchiveError, shown};
use crate::tree::{Id, ROOT, Tree};
use crate::walk::{Format, Room, Sink, walk};

/// For files that are not executable.
const MODE_PLAIN: Mode = Mode::from_raw_mode(0o644);

/// For folders and executable files.
const MODE_EXECUTABLE: Mode = Mode::from_raw_mode(0o755);

const BENEATH: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS);

/// What was created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unpacked {
    /// What the archive is.
    pub format: Format,
    /// Files, links and folders.
    pub entries: usize,
    /// Bytes of all files.
    pub bytes: u64,
}

/// Why nothing was unpacked.
#[derive(Debug, thiserror::Error)]
pub enum UnpackError {
    /// The archive may not be unpacked.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// The file system has no more room or no more inodes.
    #[error("the disk is full; make room and send it again")]
    DiskFull,
    /// The quota of whoever runs this is used up.
    #[error("the disk quota is used up; raise it or make room, and send it again")]
    Quota,
    /// The name of an entry belongs to something that was not created here.
    #[error(
        "there is something already where entry '{entry}' is to go; unpack into an empty folder"
    )]
    InTheWay {
        /// Its path.
        entry: String,
    },
    /// The kernel, or a filter before it, has no `openat2`.
    #[error(
        "there is no openat2 here; Linux 5.6 or newer is needed, and a sandbox that lets the call pass"
    )]
    NoOpenat2,
    /// Anything else that a file system can refuse.
    #[error("entry '{entry}' cannot be written")]
    Write {
        /// Its path.
        entry: String,
        /// Why not.
        #[source]
        source: io::Error,
    },
}

impl UnpackError {
    /// A word for programs. It does not change when a message is reworded.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Archive(error) => error.code(),
            Self::DiskFull => "disk_full",
            Self::Quota => "quota",
            Self::InTheWay { .. } => "in_the_way",
            Self::NoOpenat2 => "no_openat2",
            Self::Write { .. } => "write",
        }
    }

    pub(crate) fn of_writing(entry: &str, error: io::Error) -> Self {
        match Errno::from_io_error(&error) {
            Some(Errno::NOSPC) => Self::DiskFull,
            Some(Errno::DQUOT) => Self::Quota,
            Some(Errno::NOSYS) => Self::NoOpenat2,
            Some(Errno::EXIST) => Self::InTheWay {
                entry: shown(entry.as_bytes()),
            },
            _ => Self::Write {
                entry: shown(entry.as_bytes()),
                source: error,
            },
        }
    }
}

/// Reads a whole archive from its start and creates its content in the folder `dir`. It judges the archive as
/// [`inspect`](crate::inspect) does, so it is as safe without that.
///
/// # Errors
/// The archive may not be unpacked, or the file system refuses. Everything created so far is then removed
/// again, except where somebody else has put things into it.
pub fn unpack(
    reader: impl Read + Seek,
    limits: &Limits,
    dir: OwnedFd,
) -> Result<Unpacked, UnpackError> {
    unpack_within(reader, limits, dir, &mut |_| true)
}

/// As [`unpack`], and asks for the memory that the names take, which is free again when this returns.
///
/// # Errors
/// As there, or there is no room ([`ArchiveError::NoRoom`]).
pub fn unpack_within(
    reader: impl Read + Seek,
    limits: &Limits,
    dir: OwnedFd,
    room: Room<'_>,
) -> Result<Unpacked, UnpackError> {
    let mut writer = Writer::new(dir);
    let walked = walk(reader, limits, room, &mut writer)?;
    writer.keep();
    Ok(Unpacked {
        format: walked.format,
        entries: walked.entries,
        bytes: walked.bytes,
    })
}

/// Something that was created, so that it can be removed.
struct Made {
    /// Index of the folder that contains it, among what was created; `None` for the root.
    parent: Option<usize>,
    name: Box<str>,
    is_folder: bool,
}

/// Writes, and removes everything again unless told to keep it.
struct Writer {
    root: OwnedFd,
    made: Vec<Made>,
    /// The folders of the archive's tree that exist, as indices into what was created.
    folders: HashMap<Id, usize>,
    /// The folder that was entered last: the next entry is usually in it too.
    inside: Option<(usize, OwnedFd)>,
    buffer: Vec<u8>,
}

impl Writer {
    fn new(root: OwnedFd) -> Self {
        Self {
            root,
            made: Vec::new(),
            folders: HashMap::new(),
            inside: None,
            buffer: vec![0; PIECE_BYTES],
        }
    }

    fn keep(&mut self) {
        self.made.clear();
    }

    /// Opens a folder that was created, or the root.
    fn enter(&mut self, folder: Option<usize>) -> rustix::io::Result<BorrowedFd<'_>> {
        let Some(folder) = folder else {
            return Ok(self.root.as_fd());
        };
        if self.inside.as_ref().is_none_or(|(at, _)| *at != folder) {
            let opened = open_folder(self.root.as_fd(), &self.path(folder))?;
            self.inside = Some((folder, opened));
        }
        let inside = self.inside.as_ref();
        Ok(inside.map_or(self.root.as_fd(), |(_, opened)| opened.as_fd()))
    }

    fn path(&self, made: usize) -> String {
        let mut names = Vec::new();
        let mut at = Some(made);
        while let Some(place) = at {
            names.push(&*self.made[place].name);
            at = self.made[place].parent;
        }
        names.reverse();
        names.join("/")
    }

    /// Creates a folder, and those above it that do not exist yet.
    fn make_folders(&mut self, tree: &Tree, folder: Id) -> Result<Option<usize>, UnpackError> {
        let mut missing = Vec::new();
        let mut at = folder;
        while at != ROOT && !self.folders.contains_key(&at) {
            missing.push(at);
            at = tree.parent(at);
        }
        let mut place = self.folders.get(&at).copied();
        while let Some(folder) = missing.pop() {
            let name = tree.name(folder);
            let made = self.make_folder(place, name);
            let made = made.map_err(|error| write_error(tree, folder, error))?;
            self.folders.insert(folder, made);
            place = Some(made);
        }
        Ok(place)
    }

    fn make_folder(&mut self, parent: Option<usize>, name: &str) -> rustix::io::Result<usize> {
        fs::mkdirat(self.enter(parent)?, name, MODE_EXECUTABLE)?;
        let made = self.note(parent, name, true);
        let opened = open_folder(self.enter(parent)?, name)?;
        // Restores the bits that the umask removed.
        fs::fchmod(&opened, MODE_EXECUTABLE)?;
        self.inside = Some((made, opened));
        Ok(made)
    }

    fn note(&mut self, parent: Option<usize>, name: &str, is_folder: bool) -> usize {
        self.made.push(Made {
            parent,
            name: Box::from(name),
            is_folder,
        });
        self.made.len() - 1
    }

    /// Creates an entry other than a folder by `make`, which gets the folder for it and its name.
    fn create<T>(
        &mut self,
        tree: &Tree,
        entry: Id,
        make: impl FnOnce(BorrowedFd<'_>, &str) -> rustix::io::Result<T>,
    ) -> Result<T, UnpackError> {
        let parent = self.make_folders(tree, tree.parent(entry))?;
        let name = tree.name(entry);
        let made = self.enter(parent).and_then(|folder| make(folder, name));
        let made = made.map_err(|error| write_error(tree, entry, error))?;
        self.note(parent, name, false);
        Ok(made)
    }
}

impl Sink for Writer {
    type Error = UnpackError;

    fn folder(&mut self, tree: &Tree, folder: Id) -> Result<(), UnpackError> {
        self.make_folders(tree, folder).map(drop)
    }

    fn file(
        &mut self,
        tree: &Tree,
        file: Id,
        is_executable: bool,
        content: &mut Content<'_>,
    ) -> Result<(), UnpackError> {
        let mode = if is_executable {
            MODE_EXECUTABLE
        } else {
            MODE_PLAIN
        };
        let created = self.create(tree, file, |folder, name| {
            let flags =
                OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            fs::openat2(folder, name, flags, mode, BENEATH)
        })?;
        let failed = |error| UnpackError::of_writing(&tree.path(file), error);
        fs::fchmod(&created, mode).map_err(|error| failed(error.into()))?;
        let mut created = File::from(created);
        loop {
            let read = content.next(&mut self.buffer)?;
            if read == 0 {
                return Ok(());
            }
            created.write_all(&self.buffer[..read]).map_err(failed)?;
        }
    }

    fn hard_link(&mut self, tree: &Tree, link: Id, to: Id) -> Result<(), UnpackError> {
        let holder = self.make_folders(tree, tree.parent(to))?;
        let holder = match holder {
            Some(folder) => open_folder(self.root.as_fd(), &self.path(folder)),
            None => rustix::io::fcntl_dupfd_cloexec(&self.root, 0),
        };
        let holder = holder.map_err(|error| write_error(tree, to, error))?;
        self.create(tree, link, |folder, name| {
            // Without AT_SYMLINK_FOLLOW, so that it would link a link that somebody put there, not
            // its target.
            fs::linkat(&holder, tree.name(to), folder, name, AtFlags::empty())
        })
    }

    fn symbolic_link(&mut self, tree: &Tree, link: Id, target: &str) -> Result<(), UnpackError> {
        self.create(tree, link, |folder, name| {
            fs::symlinkat(target, folder, name)
        })
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.inside = None;
        for place in (0..self.made.len()).rev() {
            let (parent, is_folder) = (self.made[place].parent, self.made[place].is_folder);
            let flags = if is_folder {
                AtFlags::REMOVEDIR
            } else {
                AtFlags::empty()
            };
            let name = self.made[place].name.clone();
            // There is nobody to report this to, and the next one may be removable.
            let _ = self
                .enter(parent)
                .and_then(|folder| fs::unlinkat(folder, &*name, flags));
        }
    }
}

fn write_error(tree: &Tree, entry: Id, error: Errno) -> UnpackError {
    UnpackError::of_writing(&tree.path(entry), error.into())
}

fn open_folder(root: BorrowedFd<'_>, path: &str) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    fs::openat2(root, path, flags, Mode::empty(), BENEATH)
}
