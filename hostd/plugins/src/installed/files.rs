//! The files of components, named by their digests. Blocks on the disk.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use base::pins::Pins;
use base::{folder, private};
use sha2::{Digest, Sha256};

use super::InstalledError;
use crate::own_file;
use crate::package::COMPONENT_BYTES_MAX;

const SUFFIX: &str = ".wasm";

/// The folder.
#[derive(Debug)]
pub(super) struct Files {
    folder: PathBuf,
    pins: Pins,
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> InstalledError + '_ {
    |source| InstalledError::File {
        path: path.to_owned(),
        source,
    }
}

impl Files {
    pub(super) fn open(data: &Path, pins: Pins) -> Result<Self, InstalledError> {
        let folder = data.join(folder::PLUGIN_PACKAGES);
        private::make_folder(&folder).map_err(failed(&folder))?;
        Ok(Self { folder, pins })
    }

    fn path(&self, digest: &str) -> PathBuf {
        self.folder.join(format!("{digest}{SUFFIX}"))
    }

    /// Writes a component. It is whole and on disk when it has its name.
    pub(super) fn write(&self, digest: &str, component: &[u8]) -> Result<(), InstalledError> {
        let written = own_file::write(&self.folder, &format!("{digest}{SUFFIX}"), &[component]);
        written.map_err(failed(&self.path(digest)))
    }

    pub(super) fn read(&self, digest: &str) -> Result<Vec<u8>, InstalledError> {
        let path = self.path(digest);
        let file = File::open(&path).map_err(failed(&path))?;
        let mut bytes = Vec::new();
        let mut bounded = file.take(COMPONENT_BYTES_MAX as u64 + 1);
        bounded.read_to_end(&mut bytes).map_err(failed(&path))?;
        if hex::encode(Sha256::digest(&bytes)) != digest {
            return Err(InstalledError::Changed { path });
        }
        Ok(bytes)
    }

    /// Removes all files but those of these digests; none while a backup copies them, since a name may come again.
    pub(super) fn sweep(&self, wanted: &BTreeSet<String>) -> Result<(), InstalledError> {
        if self.pins.is_held() {
            return Ok(());
        }
        let entries = fs::read_dir(&self.folder).map_err(failed(&self.folder))?;
        for entry in entries {
            let path = entry.map_err(failed(&self.folder))?.path();
            let name = path.file_name().and_then(|name| name.to_str());
            let digest = name.and_then(|name| name.strip_suffix(SUFFIX));
            if !digest.is_some_and(|digest| wanted.contains(digest)) {
                fs::remove_file(&path).map_err(failed(&path))?;
            }
        }
        Ok(())
    }
}
