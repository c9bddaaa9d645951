//! Removes trees of any depth and mode.
//!
//! A job can nest folders deeper than a process may have open and longer than a path may be, and take every right
//! to them away. So each folder below is first moved to the top, and no path here is longer than two names.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Removes a folder and everything in it, which nobody may be adding to any more. One that is not there is removed
/// already.
pub(crate) fn remove(folder: &Path) -> io::Result<()> {
    match folder.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
        Ok(meta) if !meta.is_dir() => return fs::remove_file(folder),
        Ok(_) => {}
    }
    let mut moved = 0;
    loop {
        open_up(folder)?;
        let mut is_empty = true;
        // Folders that move here meanwhile are seen now or the next time. No list is made of names: there may be a
        // million.
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            is_empty = false;
            if entry.file_type()?.is_dir() {
                flatten(folder, &entry.path(), &mut moved)?;
            } else {
                fs::remove_file(entry.path())?;
            }
        }
        if is_empty {
            return fs::remove_dir(folder);
        }
    }
}

/// Removes a folder at the top whose folders move to the top.
fn flatten(top: &Path, folder: &Path, moved: &mut u64) -> io::Result<()> {
    open_up(folder)?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            // Moving a folder writes to it too.
            open_up(&path)?;
            move_to(top, &path, moved)?;
        } else {
            fs::remove_file(&path)?;
        }
    }
    fs::remove_dir(folder)
}

fn move_to(top: &Path, path: &Path, moved: &mut u64) -> io::Result<()> {
    loop {
        *moved += 1;
        match fs::rename(path, top.join(format!(".{moved}"))) {
            // The job had the same idea for a name.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::DirectoryNotEmpty
                        | io::ErrorKind::AlreadyExists
                        | io::ErrorKind::NotADirectory
                ) => {}
            other => return other,
        }
    }
}

fn open_up(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, Permissions::from_mode(0o700))
}
