//! Artifacts: files that a build left below `$HOSTD_OUT`, taken from there by name.
//!
//! Whoever wrote the build chose what lies there, so each is opened by the kernel below that folder and without
//! following a link, and is copied from what was opened.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use base::private;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::outcome::{Failure, Outcome};

/// Bytes that are copied at once.
const PIECE_BYTES: usize = 256 << 10;

/// A file that a run made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Artifact {
    /// Its path below `$HOSTD_OUT`.
    pub name: String,
    /// How long it is.
    pub bytes: u64,
    /// SHA-256 of its content, in hexadecimal.
    pub sha256: String,
    /// Where it is kept.
    pub path: PathBuf,
}

/// Takes the artifacts `names` from `out` and keeps them below `to`.
///
/// # Errors
/// One is not there, is no file, or `bytes_max` is not enough for all of them; or the disk.
pub(crate) fn collect(
    out: &Path,
    names: &[String],
    to: &Path,
    bytes_max: u64,
) -> Result<Vec<Artifact>, Outcome> {
    let broken = |error: io::Error| Outcome::broken("keep an artifact", &error);
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = match openat(CWD, out, flags, Mode::empty()) {
        Ok(folder) => folder,
        Err(_) => return Err(missing(names.first())),
    };
    let mut left = bytes_max;
    let mut artifacts = Vec::new();
    for name in names {
        let file = open(&folder, name)?;
        let path = to.join(name);
        if let Some(parent) = path.parent() {
            private::make_folder(parent).map_err(broken)?;
        }
        let copied = copy(file, &path, left).map_err(broken)?;
        let Some((bytes, sha256)) = copied else {
            let why = "all artifacts together are larger than `limits.disk`";
            return Err(Outcome::Failed(Failure::UnfitArtifact(name.clone(), why)));
        };
        left -= bytes;
        artifacts.push(Artifact {
            name: name.clone(),
            bytes,
            sha256,
            path,
        });
    }
    Ok(artifacts)
}

fn missing(name: Option<&String>) -> Outcome {
    Outcome::Failed(Failure::MissingArtifact(name.cloned().unwrap_or_default()))
}

/// Opens a file below `folder`. Opening a pipe or device must not wait for anybody.
fn open(folder: &OwnedFd, name: &String) -> Result<File, Outcome> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let unfit = |why| Outcome::Failed(Failure::UnfitArtifact(name.clone(), why));
    use rustix::io::Errno;
    match openat2(folder, name, flags, Mode::empty(), resolve) {
        Ok(file) => {
            let file = File::from(file);
            match file.metadata() {
                Ok(meta) if meta.is_file() => Ok(file),
                _ => Err(unfit("it is no file; pack a folder into one, as with tar")),
            }
        }
        Err(Errno::LOOP | Errno::XDEV) => Err(unfit(
            "it is a link, or behind one; copy the file instead (cp -L)",
        )),
        Err(Errno::ACCESS | Errno::PERM) => Err(unfit("its mode does not let its owner read it")),
        Err(Errno::NOENT | Errno::NOTDIR) => Err(missing(Some(name))),
        Err(error) => Err(Outcome::broken("open an artifact", &error.into())),
    }
}

/// Copies what `from` has. None if that is more than `bytes_max`, whatever its length was said to be.
fn copy(mut from: File, path: &Path, bytes_max: u64) -> io::Result<Option<(u64, String)>> {
    let mut to = private::make_file(path)?;
    let mut digest = Sha256::new();
    let mut piece = vec![0; PIECE_BYTES];
    let mut bytes = 0;
    loop {
        let len = from.read(&mut piece)?;
        if len == 0 {
            return Ok(Some((bytes, hex::encode(digest.finalize()))));
        }
        bytes += len as u64;
        if bytes_max < bytes {
            return Ok(None);
        }
        digest.update(&piece[..len]);
        to.write_all(&piece[..len])?;
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn take(folder: &Path, names: &[&str]) -> Result<Vec<Artifact>, String> {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let to = tempfile::tempdir().unwrap();
        collect(&folder.join("out"), &names, to.path(), 10)
            .map_err(|outcome| outcome.kind().unwrap_or_default().to_owned())
    }

    #[test]
    fn files_are_taken_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("out/sub")).unwrap();
        fs::write(root.join("out/sub/fw.elf"), "abc").unwrap();
        fs::write(root.join("out/long"), "more than ten").unwrap();
        fs::write(root.join("secret"), "s").unwrap();
        symlink("../secret", root.join("out/link")).unwrap();
        symlink("sub", root.join("out/inner")).unwrap();
        symlink("..", root.join("out/up")).unwrap();
        let mode = Mode::from_raw_mode(0o600);
        let pipe = root.join("out/pipe");
        rustix::fs::mknodat(CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();

        let taken = take(root, &["sub/fw.elf"]).unwrap();
        assert_eq!((taken[0].bytes, taken[0].name.as_str()), (3, "sub/fw.elf"));
        assert!(taken[0].sha256.starts_with("ba7816bf"), "{taken:?}");
        let unfit = [
            "link",
            "inner/fw.elf",
            "up/secret",
            "sub",
            "pipe",
            "long",
            "../secret",
            "/etc/passwd",
        ];
        for name in unfit {
            assert_eq!(take(root, &[name]).unwrap_err(), "unfit_artifact", "{name}");
        }
        for name in ["none", "sub/fw.elf/x"] {
            assert_eq!(
                take(root, &[name]).unwrap_err(),
                "missing_artifact",
                "{name}"
            );
        }
    }
}
