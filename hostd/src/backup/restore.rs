//! Makes a data folder from a backup. Leases end, so that the server makes their devices safe;
//! keys, users and everything else are as they were.

use std::fs;
use std::path::Path;

use super::{
    BackupError, Manifest, Report, Sealed, copy, failed, hash, is_empty, make_parent,
    read_manifest, sync_folders, sync_parent,
};
use base::{folder, id, private};
use store::{self, Store, StoreError};

/// Page cache while leases are ended, in MiB.
const CACHE_MIB: u32 = 4;

/// The folders of a data folder that a backup may have.
const FOLDERS: [&str; 4] = [
    folder::CAPTURES,
    folder::BLOBS,
    folder::JOBS,
    folder::PLUGINS,
];

/// Make the data folder `data`, which must be empty or missing, from the backup `from`.
///
/// # Errors
/// The folder holds something, the backup is damaged or newer than this program, or the disk fails.
pub async fn restore(from: &Path, data: &Path) -> Result<Report, BackupError> {
    let manifest = read_manifest(from)?;
    private::data_folder(data)?;
    clear_interrupted(data)?;
    if !is_empty(data)? {
        return Err(BackupError::Folder {
            path: data.to_owned(),
            why: "it is not empty; restore into a folder that is, and keep the old one until all is well",
        });
    }
    let work = data.join(format!("{}{}", folder::restoring(), id::request_id()));
    private::make_folder(&work).map_err(failed(&work))?;
    for file in &manifest.files {
        let (source, target) = (from.join(&file.path), work.join(&file.path));
        make_parent(&target)?;
        copy(&source, &target)?;
        let found = hash(&target).map_err(failed(&target))?;
        if found != (file.size_bytes, file.sha256.clone()) {
            fs::remove_dir_all(&work).map_err(failed(&work))?;
            return Err(BackupError::Differs { path: source });
        }
    }
    end_leases(&work).await?;
    sync_folders(&work)?;
    // The database last: a folder without one is not a data folder yet.
    for name in FOLDERS.into_iter().chain([folder::STORE]) {
        let (path, target) = (work.join(name), data.join(name));
        if path.exists() {
            fs::rename(&path, &target).map_err(failed(&target))?;
        }
    }
    fs::remove_dir_all(&work).map_err(failed(&work))?;
    sync_parent(&data.join(folder::STORE))?;
    Ok(report(&manifest))
}

/// Remove what an interrupted restore has left.
fn clear_interrupted(data: &Path) -> Result<(), BackupError> {
    if !folder::is_half_restored(data) {
        return Ok(());
    }
    for entry in fs::read_dir(data).map_err(failed(data))? {
        let entry = entry.map_err(failed(data))?;
        let name = entry.file_name();
        let is_ours = name
            .as_encoded_bytes()
            .starts_with(folder::INCOMPLETE.as_bytes())
            || FOLDERS.iter().any(|folder| name == *folder);
        if is_ours {
            let path = entry.path();
            fs::remove_dir_all(&path).map_err(failed(&path))?;
        }
    }
    Ok(())
}

async fn end_leases(folder: &Path) -> Result<(), StoreError> {
    let store = Store::open(folder, CACHE_MIB)?;
    store.leases_end().await?;
    store.close().await
}

fn report(manifest: &Manifest) -> Report {
    Report {
        files: manifest.files.len() as u64,
        bytes: manifest.files.iter().map(|file| file.size_bytes).sum(),
        missing: manifest.missing.len() as u64,
        sealed: Sealed::of(manifest),
    }
}
