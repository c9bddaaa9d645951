//! Files that a stranger left below a folder, read within bounds.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};

/// Reads a file below `folder`. No link is followed on the way.
///
/// # Errors
/// It is not there, is no file, or has more bytes than `bytes_max`.
pub(crate) fn read(folder: &Path, path: &str, bytes_max: usize) -> io::Result<Vec<u8>> {
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
    let folder = openat(CWD, folder, flags, Mode::empty())?;
    let file = openat2(
        &folder,
        path,
        // A pipe is no file, and is not waited for.
        OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK,
        Mode::empty(),
        ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS,
    )?;
    let file = File::from(file);
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    let mut bytes = Vec::new();
    file.take(bytes_max as u64 + 1).read_to_end(&mut bytes)?;
    match bytes.len() > bytes_max {
        true => Err(io::Error::other(format!(
            "it has more than {bytes_max} bytes"
        ))),
        false => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_within_their_folder_alone() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("checks")).unwrap();
        std::fs::write(at("checks/a.yaml"), "abc").unwrap();
        std::os::unix::fs::symlink("/etc/hostname", at("link")).unwrap();
        let why = |path: &str, most: usize| read(folder.path(), path, most).unwrap_err();
        assert_eq!(read(folder.path(), "checks/a.yaml", 3).unwrap(), b"abc");
        let large = why("checks/a.yaml", 2).to_string();
        assert!(large.contains("more than 2 bytes"), "{large}");
        assert_eq!(why("checks/b.yaml", 3).kind(), io::ErrorKind::NotFound);
        assert!(why("checks", 3).to_string().contains("no file"));
        for path in ["link", "../x", "/etc/hostname"] {
            assert_ne!(why(path, 3).kind(), io::ErrorKind::NotFound, "{path}");
        }
    }
}
