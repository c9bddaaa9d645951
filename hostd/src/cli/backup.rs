//! `hostd backup`, `hostd restore` and `hostd check` without a pipeline: a data folder copied, made again, looked
//! through.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use anyhow::{Context, bail};
use clap::Args;

use crate::admin;
use crate::backup::{self, Report, check, restore};
use base::config::Config;
use base::folder::SECRETS_KEY;
use store::Store;

/// Page cache of a short visit, in MiB.
const CACHE_MIB: u32 = 4;

#[derive(Debug, Args)]
pub struct Backup {
    /// Folder to make; it must not be there, or be empty
    dir: PathBuf,
}

#[derive(Debug, Args)]
pub struct Restore {
    /// Folder that `hostd backup` made
    dir: PathBuf,
}

impl Backup {
    /// Copy the data folder of `config`: by the server that runs on it, else here.
    ///
    /// # Errors
    /// The target is not empty, the disk, or the store.
    pub fn run(&self, config: &Config, out: &mut dyn Write) -> anyhow::Result<()> {
        let target = std::path::absolute(&self.dir).context("find the folder of the backup")?;
        let data = &config.data_dir;
        let report = match admin::backup(data, &target).context("take the backup")? {
            Some(report) => report,
            None => offline(data, &target).context("take the backup")?,
        };
        tell(&report, out)?;
        if let Some(sealed) = report.sealed.told() {
            writeln!(
                out,
                "the backup has not the key of {sealed}; keep {SECRETS_KEY} of the data folder apart from it"
            )?;
        }
        Ok(())
    }
}

fn offline(data: &Path, target: &Path) -> anyhow::Result<Report> {
    if !data.join(base::folder::STORE).exists() {
        bail!(
            "find a store in {}; name another folder with --data-dir",
            data.display()
        );
    }
    let store = Store::open(data, CACHE_MIB)?;
    let taken = backup::take(data, &store.snapshot()?, target, &AtomicBool::new(false));
    Ok(taken?)
}

impl Restore {
    /// Make the data folder of `config`, which is empty or not there.
    ///
    /// # Errors
    /// The folder holds something, the backup is damaged or newer than this program, or the disk.
    pub fn run(&self, config: &Config, out: &mut dyn Write) -> anyhow::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("start the async runtime")?;
        let restored = runtime.block_on(restore::restore(&self.dir, &config.data_dir));
        let report = restored.context("restore the backup")?;
        tell(&report, out)?;
        if let Some(sealed) = report.sealed.told() {
            let folder = config.data_dir.display();
            writeln!(
                out,
                "{sealed} cannot be read until {SECRETS_KEY}, which no backup has, is put into {folder} (chmod 600)"
            )?;
            if report.sealed.webhooks > 0 {
                writeln!(out, "webhooks are told nothing until then")?;
            }
        }
        Ok(())
    }
}

/// Look through the data folder of `config`, or a backup.
///
/// # Errors
/// There is damage, a server uses the folder, or it cannot be read.
pub fn check(backup: Option<&Path>, config: &Config, out: &mut dyn Write) -> anyhow::Result<()> {
    let folder = backup.unwrap_or(&config.data_dir);
    let found = check::check(folder).context("check the folder")?;
    for fault in &found.faults {
        writeln!(out, "fault: {fault}")?;
    }
    for note in &found.notes {
        writeln!(out, "note: {note}")?;
    }
    let (records, captures, blobs) = (found.records, found.captures, found.blobs);
    writeln!(
        out,
        "{records} records, {captures} captures with samples, {blobs} files of builds and waveforms"
    )?;
    match found.faults.len() {
        0 => Ok(writeln!(out, "no damage")?),
        faults => bail!("find {} whole: {faults} faults", folder.display()),
    }
}

fn tell(report: &Report, out: &mut dyn Write) -> anyhow::Result<()> {
    let (files, bytes) = (report.files, report.bytes);
    writeln!(out, "{files} files, {bytes} bytes")?;
    if report.missing > 0 {
        let missing = report.missing;
        writeln!(
            out,
            "{missing} files were missing; {} lists them",
            backup::MANIFEST
        )?;
    }
    Ok(())
}
