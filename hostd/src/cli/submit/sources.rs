//! The sources that go with a pipeline: which files, and the archive of them, the same bytes each time.

use std::collections::HashSet;
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, bail};
use archive::Limits;
use flate2::Compression;
use flate2::write::GzEncoder;
use ignore::{DirEntry, WalkBuilder};
use tar::{EntryType, Header};

/// Where `hostd run` puts what it came to, unless it is told otherwise.
const OUT: &str = "hostd-out";

/// Where git keeps what it knows of a checkout.
const GIT: &str = ".git";

/// Files, folders and links below a folder.
#[derive(Debug)]
pub(super) struct Sources {
    root: PathBuf,
    /// Paths below the root, in the order of the archive.
    entries: Vec<PathBuf>,
    /// What is not taken though nobody said so, with the reason.
    pub(super) left_out: Vec<String>,
    limits: Limits,
}

/// What something is to an archive.
enum Kind {
    Folder,
    File(Metadata),
    Link(PathBuf),
    /// It is not taken.
    Other(&'static str),
}

impl Sources {
    /// What is below `root`, but for `.git`, `hostd-out`, `out`, and what git ignores in a checkout.
    ///
    /// # Errors
    /// Something cannot be read, or it is more than any server takes.
    pub(super) fn list(root: &Path, out: Option<&Path>) -> anyhow::Result<Self> {
        let read = || format!("read the sources in {}", root.display());
        let root = root.canonicalize().with_context(read)?;
        let mut sources = Self {
            entries: Vec::new(),
            left_out: Vec::new(),
            limits: Limits::default(),
            root,
        };
        let mut bytes = 0;
        for entry in walk(&sources.root, out) {
            let entry = entry.with_context(read)?;
            bytes += sources.take(entry.path())?;
            sources.check(bytes)?;
        }
        Ok(sources)
    }

    /// Takes what is at a path, if it can be taken. Returns its bytes.
    fn take(&mut self, path: &Path) -> anyhow::Result<u64> {
        let below = path.strip_prefix(&self.root)?.to_owned();
        if below.to_str().is_none() {
            bail!("pack {}: its name is no UTF-8 text", below.display());
        }
        let bytes = match kind(path, &below)? {
            Kind::Other(why) => {
                self.left_out.push(format!("{}: {why}", below.display()));
                return Ok(0);
            }
            Kind::File(meta) => meta.len(),
            Kind::Folder | Kind::Link(_) => 0,
        };
        self.entries.push(below);
        Ok(bytes)
    }

    fn check(&self, bytes: u64) -> anyhow::Result<()> {
        let Limits {
            entries_max,
            unpacked_bytes_max,
            ..
        } = self.limits;
        let what = if self.entries.len() > entries_max {
            format!("more than {entries_max} files and folders")
        } else if bytes > unpacked_bytes_max {
            format!("more than {} MiB", unpacked_bytes_max >> 20)
        } else {
            return Ok(());
        };
        let root = self.root.display();
        bail!(
            "send the sources: {root} has {what}; name a smaller folder by --source, or what is not needed in .gitignore"
        )
    }

    /// The path in the archive of a file, if it is among the sources.
    pub(super) fn path_of(&self, file: &Path) -> anyhow::Result<&str> {
        let find = || format!("find {} among the sources", file.display());
        let name = file.file_name().with_context(find)?;
        let folder = match file.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let path = folder.canonicalize().with_context(find)?.join(name);
        let below = path.strip_prefix(&self.root).ok();
        let at = below.and_then(|below| self.entries.iter().position(|entry| entry == below));
        let path = at.and_then(|at| self.entries[at].to_str());
        path.with_context(|| {
            let root = self.root.display();
            format!(
                "{}: it must be below {root}, and git must not ignore it",
                find()
            )
        })
    }

    /// Writes the archive: a tar packed by gzip, without times and owners.
    ///
    /// # Errors
    /// Something cannot be read or is not what it was, the archive is larger than any server takes, or `to` fails.
    pub(super) fn pack(&self, to: impl Write) -> anyhow::Result<()> {
        let to = Bounded {
            to,
            room: self.limits.packed_bytes_max,
        };
        let mut archive = tar::Builder::new(GzEncoder::new(to, Compression::default()));
        for below in &self.entries {
            self.add(&mut archive, below)
                .with_context(|| format!("pack {}", below.display()))?;
        }
        let packed = archive.into_inner().and_then(GzEncoder::finish);
        packed.context("pack the sources")?.to.flush()?;
        Ok(())
    }

    fn add(&self, archive: &mut tar::Builder<impl Write>, below: &Path) -> anyhow::Result<()> {
        let path = self.root.join(below);
        let mut header = Header::new_gnu();
        header.set_mtime(0);
        header.set_uid(0);
        header.set_gid(0);
        header.set_mode(0o755);
        header.set_size(0);
        match kind(&path, below)? {
            Kind::Folder => {
                header.set_entry_type(EntryType::Directory);
                archive.append_data(&mut header, below, io::empty())?;
            }
            Kind::Link(target) => {
                header.set_entry_type(EntryType::Symlink);
                archive.append_link(&mut header, below, target)?;
            }
            Kind::File(_) => {
                let file = File::open(&path)?;
                let meta = file.metadata()?;
                header.set_entry_type(EntryType::Regular);
                header.set_size(meta.len());
                if meta.permissions().mode() & 0o111 == 0 {
                    header.set_mode(0o644);
                }
                let content = Exact {
                    file,
                    left: meta.len(),
                };
                archive.append_data(&mut header, below, content)?;
            }
            Kind::Other(_) => bail!("take it: it was something else a moment ago"),
        }
        Ok(())
    }
}

/// What lies below `root` and is no source, so that whoever copies the folder has what is sent: absolute paths of files and
/// of whole folders, sorted. `root` has no links on the way.
///
/// # Errors
/// Something cannot be read.
pub(in super::super) fn left_out(root: &Path, out: Option<&Path>) -> anyhow::Result<Vec<PathBuf>> {
    let read = || format!("read the sources in {}", root.display());
    let mut taken = HashSet::from([root.to_owned()]);
    let mut folders = vec![root.to_owned()];
    for entry in walk(root, out) {
        let path = entry.with_context(read)?.into_path();
        match kind(&path, path.strip_prefix(root)?)? {
            Kind::Other(_) => continue,
            Kind::Folder => folders.push(path.clone()),
            Kind::File(_) | Kind::Link(_) => {}
        }
        taken.insert(path);
    }
    let mut left_out = Vec::new();
    for folder in folders {
        for entry in fs::read_dir(&folder).with_context(read)? {
            let path = entry.with_context(read)?.path();
            if !taken.contains(&path) {
                left_out.push(path);
            }
        }
    }
    left_out.sort();
    Ok(left_out)
}

/// What is below `root`, but for `.git`, `hostd-out`, `out`, and what git ignores in a checkout.
fn walk(
    root: &Path,
    out: Option<&Path>,
) -> impl Iterator<Item = Result<DirEntry, ignore::Error>> + use<> {
    let out = out.and_then(|out| out.canonicalize().ok());
    let skipped = [Some(root.join(OUT)), out];
    let walk = WalkBuilder::new(root)
        .standard_filters(false)
        .git_ignore(true)
        .parents(true)
        .sort_by_file_name(Ord::cmp)
        .filter_entry(move |entry| {
            let is_skipped = skipped.iter().flatten().any(|path| path == entry.path());
            entry.file_name() != GIT && !is_skipped
        })
        .build();
    // The first is the root itself.
    walk.skip(1)
}

fn kind(path: &Path, below: &Path) -> io::Result<Kind> {
    let meta = path.symlink_metadata()?;
    let kind = meta.file_type();
    Ok(if kind.is_dir() {
        Kind::Folder
    } else if kind.is_file() {
        Kind::File(meta)
    } else if kind.is_symlink() {
        let target = fs::read_link(path)?;
        if leads_out(below, &target) {
            Kind::Other("a link that leads out of the sources")
        } else {
            Kind::Link(target)
        }
    } else {
        Kind::Other("neither a file nor a folder nor a link")
    })
}

/// Whether a link at a path leads above the root by its own words. Where other links lead it, the server looks.
fn leads_out(below: &Path, target: &Path) -> bool {
    let mut depth = below.components().count() - 1;
    for part in target.components() {
        match part {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir if depth > 0 => depth -= 1,
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return true,
        }
    }
    false
}

/// As many bytes of a file as it had when it was opened.
struct Exact {
    file: File,
    left: u64,
}

impl Read for Exact {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX);
        let most = most.min(buffer.len());
        let count = self.file.read(&mut buffer[..most])?;
        if count == 0 && most > 0 {
            return Err(io::Error::other("it became shorter meanwhile"));
        }
        self.left -= count as u64;
        Ok(count)
    }
}

/// Ends an archive that no server takes.
struct Bounded<W> {
    to: W,
    room: u64,
}

impl<W: Write> Write for Bounded<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.to.write(bytes)?;
        let room = self.room.checked_sub(count as u64);
        self.room = room.ok_or_else(|| {
            io::Error::other(
                "the archive is larger than any server takes, so name a smaller folder by --source",
            )
        })?;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests;
