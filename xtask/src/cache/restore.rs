//! Restoring: a new target folder begins with the units of a key.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use anyhow::{Context, Result, anyhow};

use super::file::{self, Sum};
use super::folder::{self, CacheFolder};
use super::list::{Entry, How, List};
use super::out_dir;
use super::units::FINGERPRINTS;

/// What was restored.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Restored {
    pub(super) units: usize,
    pub(super) bytes: u64,
}

/// Why nothing was restored.
#[derive(Debug)]
pub(super) enum NotRestored {
    /// A file of the cache is not as the list says.
    Damaged(anyhow::Error),
    /// The target folder cannot be written.
    Failed(anyhow::Error),
}

impl CacheFolder {
    /// Fills the profile's folder, which must not exist, with all files of a key; `list` is the list of that key.
    pub(super) fn restore(
        &self,
        key: &str,
        list: &List,
        profile: &Path,
    ) -> Result<Restored, NotRestored> {
        let partial = folder::partial(profile);
        let all = list.0.iter();
        let restored = all
            .map(|(path, entry)| restore_file(&self.place(key), path, *entry, &partial, profile))
            .collect::<Result<Vec<()>, NotRestored>>()
            .and_then(|_| {
                fs::rename(&partial, profile)
                    .with_context(|| format!("failed to create {}", profile.display()))
                    .map_err(NotRestored::Failed)
            });
        if let Err(error) = restored {
            // What this leaves is removed before the next attempt.
            let _ = fs::remove_dir_all(&partial);
            return Err(error);
        }
        let units: BTreeSet<&str> = list
            .0
            .keys()
            .filter_map(|path| path.strip_prefix(FINGERPRINTS)?.split('/').nth(1))
            .collect();
        Ok(Restored {
            units: units.len(),
            bytes: list.bytes(),
        })
    }
}

/// Restores one file, if its sum and date are those of the list.
fn restore_file(
    place: &Path,
    path: &str,
    entry: Entry,
    partial: &Path,
    profile: &Path,
) -> Result<(), NotRestored> {
    let from = place.join(path);
    let to = partial.join(path);
    let unreadable = |error: io::Error| {
        let error = anyhow!(error).context(format!("{} cannot be read", from.display()));
        NotRestored::Damaged(error)
    };
    let like = fs::metadata(&from).map_err(unreadable)?;
    let date = file::date(&like).map_err(unreadable)?;
    let expect = |sum: Sum| match sum == entry.sum && date == entry.date {
        true => Ok(()),
        false => Err(NotRestored::Damaged(anyhow!(
            "{} has changed",
            from.display()
        ))),
    };
    let written = if entry.how == How::Link {
        expect(Sum::of_file(&from).map_err(unreadable)?)?;
        file::link(&from, &to)
    } else {
        let mut content = fs::read(&from).map_err(unreadable)?;
        expect(Sum::of(&content))?;
        if entry.how == How::Text {
            content = filled_in(content, path, profile)?;
        }
        file::write(&to, &content, &like)
    };
    written
        .with_context(|| format!("failed to write {}", to.display()))
        .map_err(NotRestored::Failed)
}

/// A text with the folder that its build script has in the new target folder.
fn filled_in(content: Vec<u8>, path: &str, profile: &Path) -> Result<Vec<u8>, NotRestored> {
    let unit: Vec<&str> = path.split('/').take(2).collect();
    let folder = profile.join(unit.join("/")).join("out");
    let folder = folder
        .to_str()
        .with_context(|| format!("{} is no text", folder.display()))
        .map_err(NotRestored::Failed)?;
    let text = String::from_utf8(content)
        .with_context(|| format!("{path} is no text"))
        .map_err(NotRestored::Damaged)?;
    Ok(out_dir::fill_in(&text, folder).into_bytes())
}
