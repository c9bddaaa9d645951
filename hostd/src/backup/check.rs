//! Checks a whole data folder, or a backup, for damage, and changes nothing in it.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use super::{BackupError, MANIFEST, failed, hash, named, read_manifest};
use base::folder;
use lab::captures::files::Files;
use lab::captures::reader::Reader;
use store::captures::Status;
use store::{self, Snapshot, StoreError};

/// Permission bits of everybody but the owner.
const OTHERS: u32 = 0o077;

/// What was found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Something is lost, or open to others.
    pub faults: Vec<String>,
    /// Something is left over that nobody needs.
    pub notes: Vec<String>,
    pub captures: u64,
    pub blobs: u64,
    pub records: u64,
}

/// Check the folder `data`.
///
/// # Errors
/// A server uses the folder, or it cannot be read at all.
pub fn check(data: &Path) -> Result<Findings, BackupError> {
    let mut findings = Findings::default();
    modes(data, &mut findings)?;
    if data.join(MANIFEST).exists() {
        listed(data, &mut findings)?;
    }
    let looked = match store::look(&data.join(folder::STORE)) {
        Ok(looked) => looked,
        Err(error @ (StoreError::Damaged { .. } | StoreError::Open { .. })) => {
            findings.faults.push(format!("failed to {error}"));
            return Ok(findings);
        }
        Err(error) => return Err(error.into()),
    };
    if let Err(error) = contents(data, &looked.snapshot()?, &mut findings) {
        match error {
            BackupError::Store(error) => findings.faults.push(told(&error)),
            other => return Err(other),
        }
    }
    Ok(findings)
}

fn told(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("failed to {error}: {source}"),
        None => format!("failed to {error}"),
    }
}

/// Find files that others may reach.
fn modes(path: &Path, findings: &mut Findings) -> Result<(), BackupError> {
    let meta = fs::symlink_metadata(path).map_err(failed(path))?;
    if meta.is_symlink() {
        let note = format!("{} leads elsewhere", path.display());
        findings.notes.push(note);
        return Ok(());
    }
    if meta.permissions().mode() & OTHERS != 0 {
        findings.faults.push(format!(
            "{} is open to others (mode {:o})",
            path.display(),
            meta.mode() & 0o777
        ));
    }
    if meta.is_dir() {
        for entry in fs::read_dir(path).map_err(failed(path))? {
            modes(&entry.map_err(failed(path))?.path(), findings)?;
        }
    }
    Ok(())
}

/// Compare with the list of a backup.
fn listed(data: &Path, findings: &mut Findings) -> Result<(), BackupError> {
    let manifest = match read_manifest(data) {
        Ok(manifest) => manifest,
        Err(error @ BackupError::Manifest { .. }) => {
            findings.faults.push(told(&error));
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    for file in manifest.files {
        match hash(&data.join(&file.path)) {
            Ok(found) if found == (file.size_bytes, file.sha256) => {}
            Ok(_) => {
                let fault = format!("{} is not what {MANIFEST} says", file.path);
                findings.faults.push(fault);
            }
            Err(error) => findings.faults.push(format!("{}: {error}", file.path)),
        }
    }
    Ok(())
}

fn contents(data: &Path, snapshot: &Snapshot, findings: &mut Findings) -> Result<(), BackupError> {
    findings.records = snapshot.parse_all(&mut |error| findings.faults.push(told(&error)))?;
    let files = Files::look_at(data.join(folder::CAPTURES));
    let mut broken = Vec::new();
    store::captures::each(snapshot, |record| {
        if record.status != Status::Done {
            return;
        }
        findings.captures += 1;
        let id = record.id.clone();
        let opened = Reader::open(&files, record);
        if let Err(error) = opened.and_then(|reader| reader.verify()) {
            broken.push(format!("capture {id}: {}", told(&error)));
        }
    })?;
    findings.faults.append(&mut broken);
    let named = named(snapshot)?;
    for file in named.iter().filter(|file| file.sha256.is_some()) {
        findings.blobs += 1;
        match hash(&data.join(&file.path)) {
            Ok((_, found)) if Some(&found) == file.sha256.as_ref() => {}
            Ok(_) => {
                let fault = format!("{} does not hold what its name says", file.path);
                findings.faults.push(fault);
            }
            Err(error) => findings.faults.push(format!("{}: {error}", file.path)),
        }
    }
    let named: HashSet<&str> = named.iter().map(|file| file.path.as_str()).collect();
    for folder in [folder::CAPTURES, folder::BLOBS, folder::PLUGIN_PACKAGES] {
        left_over(data, folder, &named, findings)?;
    }
    Ok(())
}

/// Files that no record names.
fn left_over(
    data: &Path,
    folder: &str,
    named: &HashSet<&str>,
    findings: &mut Findings,
) -> Result<(), BackupError> {
    let path = data.join(folder);
    if !path.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(&path).map_err(failed(&path))? {
        let entry = entry.map_err(failed(&path))?;
        let inside = format!("{folder}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            left_over(data, &inside, named, findings)?;
        } else if !named.contains(inside.as_str()) {
            findings.notes.push(format!("{inside} belongs to nothing"));
        }
    }
    Ok(())
}
