//! Saving: the third-party units of a target folder become the folder of a key.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

use anyhow::{Context, Result};

use super::file::{self, Sum};
use super::folder::CacheFolder;
use super::list::{Entry, How, List};
use super::units::{Unit, UnitFile};

/// What saving came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Saved {
    /// The cache has every unit already.
    Known,
    /// So many units were new or had changed; the key has so many bytes now.
    Added { units: usize, bytes: u64 },
    /// The units have more bytes than the whole cache may have, so none is saved.
    TooLarge { bytes: u64 },
}

impl CacheFolder {
    /// Saves units of a profile's folder, beside those that `old`, the list of the same key, has.
    pub(super) fn save(
        &self,
        key: &str,
        profile: &Path,
        units: &[Unit],
        old: Option<&List>,
    ) -> Result<Saved> {
        let none = List::default();
        let mut old = old.unwrap_or(&none);
        let new = units.iter().filter(|unit| !is_known(unit, old)).count();
        if new == 0 {
            return Ok(Saved::Known);
        }
        let bytes = size_of(profile, units)?;
        if bytes > self.bytes_max {
            return Ok(Saved::TooLarge { bytes });
        }
        let mut carried = carried(old, units);
        if bytes + carried.bytes() > self.bytes_max || !is_there(&self.place(key), &carried) {
            (old, carried) = (&none, List::default());
        }
        let partial = self.partial(key)?;
        let filled = fill(&partial, profile, units, &self.place(key), old, carried);
        let bytes = filled
            .and_then(|list| list.write(&partial).map(|()| list.bytes()))
            .and_then(|bytes| self.put_in_place(key, &partial).map(|()| bytes))
            .inspect_err(|_| drop(fs::remove_dir_all(&partial)))?;
        self.note_use(key)?;
        self.make_room(key)?;
        Ok(Saved::Added { units: new, bytes })
    }
}

/// Whether the cache has a unit that cargo takes for this one.
fn is_known(unit: &Unit, list: &List) -> bool {
    unit.fingerprints.iter().all(|(path, text)| {
        let entry = list.0.get(path);
        entry.is_some_and(|entry| entry.sum == Sum::of(text.as_bytes()))
    })
}

/// The files of the old list that belong to other units than these.
fn carried(old: &List, units: &[Unit]) -> List {
    let names: BTreeSet<&str> = units.iter().map(|unit| &*unit.name).collect();
    let paths: BTreeSet<&str> = units
        .iter()
        .flat_map(|unit| &unit.files)
        .map(|file| &*file.path)
        .collect();
    let is_other = |path: &str| {
        let unit = path.split('/').nth(1).unwrap_or_default();
        !names.contains(unit) && !paths.contains(path)
    };
    let files = old.0.iter().filter(|(path, _)| is_other(path));
    List(files.map(|(path, entry)| (path.clone(), *entry)).collect())
}

/// Whether all files of a list are there, by their sizes.
fn is_there(place: &Path, list: &List) -> bool {
    list.0.iter().all(|(path, entry)| {
        let size = fs::metadata(place.join(path)).map(|m| m.len());
        size.is_ok_and(|size| size == entry.sum.size)
    })
}

fn size_of(profile: &Path, units: &[Unit]) -> Result<u64> {
    let mut bytes = 0;
    for file in units.iter().flat_map(|unit| &unit.files) {
        let path = profile.join(&file.path);
        let size = fs::metadata(&path).map(|m| m.len());
        let size = size.with_context(|| format!("failed to look at {}", path.display()))?;
        bytes += file.marked.as_ref().map_or(size, |text| text.len() as u64);
    }
    Ok(bytes)
}

/// Fills a folder with the files of units, and with what is carried over from the folder `place`.
fn fill(
    partial: &Path,
    profile: &Path,
    units: &[Unit],
    place: &Path,
    old: &List,
    carried: List,
) -> Result<List> {
    let mut files: BTreeMap<String, Entry> = carried.0;
    for path in files.keys() {
        let from = place.join(path);
        file::link(&from, &partial.join(path))
            .with_context(|| format!("failed to save {}", from.display()))?;
    }
    for file in units.iter().flat_map(|unit| &unit.files) {
        let from = profile.join(&file.path);
        let to = partial.join(&file.path);
        let saved = match old.0.get(&file.path) {
            Some(entry)
                if is_same(&from, *entry) && file::link(&place.join(&file.path), &to).is_ok() =>
            {
                Ok(*entry)
            }
            _ => save_file(file, &from, &to),
        };
        let entry = saved.with_context(|| format!("failed to save {}", from.display()))?;
        files.insert(file.path.clone(), entry);
    }
    Ok(List(files))
}

/// Whether a file of the target folder is the one that the cache has: then its sum is known.
fn is_same(file: &Path, entry: Entry) -> bool {
    let as_saved = |m: fs::Metadata| Ok((m.len(), file::date(&m)?) == (entry.sum.size, entry.date));
    entry.how != How::Text && fs::metadata(file).and_then(as_saved).unwrap_or(false)
}

fn save_file(file: &UnitFile, from: &Path, to: &Path) -> io::Result<Entry> {
    match (&file.marked, file.how) {
        (Some(text), _) => file::write(to, text.as_bytes(), &fs::metadata(from)?)?,
        (None, How::Link) => file::link(from, to)?,
        (None, How::Copy | How::Text) => file::copy(from, to)?,
    }
    Ok(Entry {
        how: file.how,
        sum: Sum::of_file(to)?,
        date: file::date(&fs::metadata(to)?)?,
    })
}
