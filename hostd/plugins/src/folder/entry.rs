//! What is in the folder: names, what tells one state of a package from the next, and packages.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::SystemTime;

use rustix::fs::OFlags;

use super::failed;
use crate::manifest;
use crate::package::Package;

/// Most packages in the folder.
pub const ENTRIES_MAX: usize = 100;

/// Most files in a package that is a folder.
const FILES_MAX: usize = 64;

/// How the name of a package that is a file ends.
const SUFFIX: &str = ".tar";

/// Permission bits that let others change something.
const OTHERS_WRITE: u32 = 0o022;

/// Device and number of the folder.
pub(super) type Identity = (u64, u64);

/// What a package is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
}

/// A package as it was seen; another state of it is not equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) kind: Kind,
    files: Vec<Stamp>,
}

/// What tells a state of a file from the next.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Stamp {
    name: String,
    number: u64,
    bytes: u64,
    changed: (i64, i64),
    written: Option<SystemTime>,
}

/// What is in the folder.
pub(super) struct Looked {
    pub(super) identity: Identity,
    /// Packages by name, unread.
    pub(super) packages: BTreeMap<String, Seen>,
    /// Folders that cannot be looked into, and may be packages.
    pub(super) closed: BTreeSet<String>,
}

impl Seen {
    /// When its newest file was written.
    pub(super) fn newest(&self) -> SystemTime {
        let written = self.files.iter().filter_map(|file| file.written);
        written.max().unwrap_or(SystemTime::UNIX_EPOCH)
    }
}

impl Stamp {
    fn of(name: &str, meta: &Metadata) -> Self {
        Self {
            name: name.to_owned(),
            number: meta.ino(),
            bytes: meta.size(),
            changed: (meta.ctime(), meta.ctime_nsec()),
            written: meta.modified().ok(),
        }
    }
}

/// What is in a folder. What is not in the answer is not there: whoever asks takes it for removed.
pub(super) fn look(folder: &Path) -> Result<Looked, String> {
    let meta = fs::metadata(folder).map_err(|error| failed("look at the folder", &error))?;
    is_trusted(&meta)?;
    let mut looked = Looked {
        identity: (meta.dev(), meta.ino()),
        packages: BTreeMap::new(),
        closed: BTreeSet::new(),
    };
    let unlisted = |error: io::Error| failed("list the folder", &error);
    for entry in fs::read_dir(folder).map_err(unlisted)? {
        let entry = entry.map_err(unlisted)?;
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        if name.starts_with('.') {
            continue;
        }
        let meta = there(fs::symlink_metadata(entry.path()));
        let Some(meta) = meta.map_err(|error| failed(&format!("look at {name}"), &error))? else {
            continue;
        };
        let seen = if meta.is_dir() {
            let Ok(files) = files(&entry.path(), &meta) else {
                looked.closed.insert(name);
                continue;
            };
            let has_manifest = files.iter().any(|file| file.name == manifest::FILE);
            has_manifest.then_some((Kind::Folder, files))
        } else {
            let is_package = name.ends_with(SUFFIX);
            is_package.then(|| (Kind::File, vec![Stamp::of("", &meta)]))
        };
        if let Some((kind, files)) = seen {
            looked.packages.insert(name, Seen { kind, files });
        }
        if looked.packages.len() > ENTRIES_MAX {
            return Err(format!(
                "it has more than {ENTRIES_MAX} packages; remove some"
            ));
        }
    }
    Ok(looked)
}

/// The folder itself and the files in it, as many as are looked at. One that went meanwhile has none.
fn files(folder: &Path, meta: &Metadata) -> io::Result<Vec<Stamp>> {
    let mut files = vec![Stamp {
        written: None,
        ..Stamp::of("", meta)
    }];
    let entries = there(fs::read_dir(folder))?;
    for entry in entries.into_iter().flatten().take(FILES_MAX + 1) {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Some(meta) = there(fs::symlink_metadata(entry.path()))? {
            files.push(Stamp::of(&name, &meta));
        }
    }
    files.sort();
    Ok(files)
}

/// None for what went after it was listed.
fn there<T>(looked: io::Result<T>) -> io::Result<Option<T>> {
    match looked {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Read a package; in words why it is none, or is not to be trusted.
pub(super) fn read(path: &Path, kind: Kind) -> Result<Package, String> {
    let package = match kind {
        Kind::File => {
            let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW;
            let opened = OpenOptions::new()
                .read(true)
                .custom_flags(flags.bits().cast_signed())
                .open(path);
            let file = opened.map_err(|error| failed("open it, or it is a link", &error))?;
            let meta = file
                .metadata()
                .map_err(|error| failed("look at it", &error))?;
            if !meta.is_file() {
                return Err("it is not a plain file".to_owned());
            }
            is_trusted(&meta)?;
            Package::unpack(file)
        }
        Kind::Folder => {
            let entries = fs::read_dir(path).map_err(|error| failed("list it", &error))?;
            let meta = fs::symlink_metadata(path).map_err(|error| failed("look at it", &error))?;
            is_trusted(&meta)?;
            for (count, entry) in entries.flatten().enumerate() {
                if count == FILES_MAX {
                    return Err(format!("it has more than {FILES_MAX} files"));
                }
                let meta = entry
                    .metadata()
                    .map_err(|error| failed("look at it", &error))?;
                is_trusted(&meta).map_err(|why| format!("{}: {why}", entry.path().display()))?;
            }
            Package::from_folder(path)
        }
    };
    package.map_err(|error| {
        let mut text = error.to_string();
        let mut source = std::error::Error::source(&error);
        while let Some(cause) = source {
            text.push_str(": ");
            text.push_str(&cause.to_string());
            source = cause.source();
        }
        text
    })
}

/// Whether nobody but this user and root can change something: what is in the folder is run.
fn is_trusted(meta: &Metadata) -> Result<(), String> {
    let own = rustix::process::geteuid().as_raw();
    let (owner, mode) = (meta.uid(), meta.mode() & 0o7777);
    if (owner == own || owner == 0) && mode & OTHERS_WRITE == 0 {
        return Ok(());
    }
    Err(format!(
        "others may change it (owner {owner}, mode {mode:o}); it must belong to the user with number {own} or to root, \
         and nobody else may write to it: chmod go-w"
    ))
}
