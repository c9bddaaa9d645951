//! Files that are this user's alone: written so that they are whole or not there, and read only if nobody else could have
//! changed them. Blocks on the disk.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use base::private;
use rustix::fs::OFlags;

/// Suffix of a file that is not finished.
pub(crate) const UNFINISHED: &str = ".new";

/// Permission bits of everybody but the owner.
const OTHERS: u32 = 0o077;

/// Write `parts`, one after the other, as the file `name`, in place of one that there may be. It has its name once it is
/// whole and on disk. One writer at a time for each name.
pub(crate) fn write(folder: &Path, name: &str, parts: &[&[u8]]) -> io::Result<()> {
    put(folder, name, parts, File::sync_all)?;
    File::open(folder)?.sync_all()
}

/// The same for what can be made again: whole for whoever reads it while the machine runs. A power failure may leave
/// nothing of it, or part of it, so whoever reads it checks it.
pub(crate) fn write_unsynced(folder: &Path, name: &str, parts: &[&[u8]]) -> io::Result<()> {
    put(folder, name, parts, |_| Ok(()))
}

fn put(
    folder: &Path,
    name: &str,
    parts: &[&[u8]],
    sync: impl FnOnce(&File) -> io::Result<()>,
) -> io::Result<()> {
    let work = folder.join(format!("{name}{UNFINISHED}"));
    remove(&work)?;
    let write = || {
        let mut file = private::make_file(&work)?;
        for part in parts {
            file.write_all(part)?;
        }
        sync(&file)?;
        fs::rename(&work, folder.join(name))
    };
    write().inspect_err(|_| drop(remove(&work)))
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// What is in a file of at most `bytes_max`; none if there is none, and in words why it is not to be used.
pub(crate) fn read(path: &Path, bytes_max: usize) -> Result<Option<Vec<u8>>, String> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path);
    let file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let meta = file.metadata().map_err(|error| error.to_string())?;
    if !meta.is_file() || !is_own(&meta) {
        return Err("it is not this user's alone".to_owned());
    }
    let mut bytes = Vec::with_capacity(bytes_max.min(usize::try_from(meta.len()).unwrap_or(0)));
    let read = file.take(bytes_max as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| error.to_string())?;
    if bytes.len() > bytes_max {
        return Err("it is too large".to_owned());
    }
    Ok(Some(bytes))
}

/// Whether something belongs to this user, and nobody else has any right to it.
pub(crate) fn is_own(meta: &fs::Metadata) -> bool {
    meta.uid() == rustix::process::geteuid().as_raw() && meta.mode() & OTHERS == 0
}
