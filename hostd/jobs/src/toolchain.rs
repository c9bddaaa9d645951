//! What programs this machine has, as one digest: a cache that other programs made is another cache.
//!
//! Reading every program would take longer than most builds. Name, size and time of what lies in the folders of
//! programs, and of the package manager's own records, change with every installation.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use jail::Bind;
use sha2::{Digest, Sha256};

/// Folders of programs, and of libraries whose change changes what programs make.
const FOLDERS: [&str; 8] = [
    "/usr/bin",
    "/usr/sbin",
    "/usr/local/bin",
    "/usr/local/sbin",
    "/usr/lib",
    "/usr/local/lib",
    "/usr/include",
    "/etc/alternatives",
];

/// What package managers write at every installation: Debian's, Red Hat's, Arch's and Alpine's.
const RECORDS: [&str; 5] = [
    "/var/lib/dpkg/status",
    "/usr/lib/sysimage/rpm/rpmdb.sqlite",
    "/var/lib/rpm/rpmdb.sqlite",
    "/var/lib/pacman/local",
    "/lib/apk/db/installed",
];

/// The digest, with the folders of tools that jails are shown.
pub(crate) fn digest(tools: &[Bind]) -> [u8; 32] {
    let mut digest = Sha256::new();
    digest.update(std::env::consts::ARCH);
    let binds = tools.iter().map(|bind| bind.host.clone());
    let bins = tools.iter().map(|bind| bind.host.join("bin"));
    let folders = FOLDERS.iter().map(PathBuf::from);
    for folder in folders.chain(binds).chain(bins) {
        add_folder(&mut digest, &folder);
    }
    for record in RECORDS {
        add(&mut digest, Path::new(record));
    }
    digest.finalize().into()
}

fn add_folder(digest: &mut Sha256, folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        add(digest, &path);
    }
}

fn add(digest: &mut Sha256, path: &Path) {
    let Ok(meta) = fs::metadata(path) else {
        return;
    };
    let name = path.as_os_str().as_encoded_bytes();
    digest.update((name.len() as u64).to_le_bytes());
    digest.update(name);
    digest.update(meta.size().to_le_bytes());
    digest.update(meta.mtime().to_le_bytes());
    digest.update(meta.mtime_nsec().to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_tool_is_another_toolchain() {
        let tools = tempfile::tempdir().unwrap();
        let binds = [Bind::same(tools.path())];
        let before = digest(&binds);
        assert_eq!(digest(&binds), before);
        fs::create_dir(tools.path().join("bin")).unwrap();
        fs::write(tools.path().join("bin/cc"), "").unwrap();
        assert_ne!(digest(&binds), before);
    }
}
