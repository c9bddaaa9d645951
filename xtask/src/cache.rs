//! Third-party crates are compiled once a machine. After a build, what cargo made of packages with a checksum in
//! `Cargo.lock` is saved in the user's cache; the target folder of a new clone begins with it, and cargo finds those
//! crates compiled. Our own packages are never saved: their names and versions are the same in every clone, and their
//! sources are not, so cargo could run the code of another clone.
//!
//! A cache that cannot be used never fails a build: a line says why, and cargo compiles everything.

mod file;
mod folder;
mod key;
mod list;
mod out_dir;
mod owners;
mod restore;
mod save;
#[cfg(test)]
mod tests;
mod units;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Instant, UNIX_EPOCH};

use anyhow::{Context, Result};

use crate::metadata::Metadata;
use crate::{apt, progress};
use folder::{CacheFolder, Content};
use key::Surroundings;
use owners::Owners;
use restore::NotRestored;
use save::Saved;

/// The variable that turns the cache off if it is `0`. It is for xtask alone, which starts every program without it.
pub(crate) const SWITCH: &str = "HOSTD_BUILD_CACHE";

/// The folder in the user's cache.
const FOLDER: &str = "hostd-crates";

/// The profile whose crates are saved, which is its folder's name, too.
const PROFILE: &str = "release";

/// A file in the profile's folder: what was there when its units were last compared with the cache.
const STAMP: &str = ".hostd-crates";

/// Cargo's lock of a profile's folder.
const LOCK: &str = ".cargo-lock";

/// Variables that make macros of `wit-bindgen` and wasmtime write what they generate into the folder of their build script.
/// Its path is compiled into them: that of the clone which compiled them.
const VARIABLES_OF_MACROS: [&str; 2] = ["WIT_BINDGEN_DEBUG", "WASMTIME_DEBUG_BINDGEN"];

/// A workspace, and the cache that it uses.
struct Place {
    root: PathBuf,
    /// The profile's folder.
    profile: PathBuf,
    cache: PathBuf,
    surroundings: Surroundings,
}

/// Fills the target folder of a clone that has compiled nothing yet.
pub(crate) fn restore() {
    let Some(cache) = users_folder() else {
        return;
    };
    // Nearly every call ends here, before cargo is asked anything.
    if beside_this_program().is_some_and(|profile| profile.exists()) {
        return;
    }
    let restored = Metadata::load().and_then(|metadata| Place::of(&metadata, cache)?.restore());
    pass_over(restored);
}

/// Saves what a build has compiled, if any of it is new.
pub(crate) fn save() {
    let Some(cache) = users_folder() else {
        return;
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    if beside_this_program().is_some_and(|profile| is_as_before(&root, &profile, &cache)) {
        return;
    }
    let saved = Metadata::load().and_then(|metadata| Place::of(&metadata, cache)?.save(&metadata));
    pass_over(saved);
}

/// The cache's folder, unless it is turned off or the user has no home.
fn users_folder() -> Option<PathBuf> {
    let is_off = std::env::var_os(SWITCH).is_some_and(|value| value == "0");
    let mut of_macros = VARIABLES_OF_MACROS.iter();
    if is_off || of_macros.any(|name| std::env::var_os(name).is_some()) {
        return None;
    }
    Some(apt::users_cache()?.join(FOLDER))
}

fn pass_over(outcome: Result<()>) {
    if let Err(error) = outcome {
        progress::detail(&format!(
            "the build cache is not used: {error:#}; {SWITCH}=0 turns it off"
        ));
    }
}

/// The profile's folder in the target folder that has this xtask.
fn beside_this_program() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    Some(program.parent()?.parent()?.join(PROFILE))
}

/// Whether a profile's folder has no units that were not compared with the cache, and the cache still has its key.
fn is_as_before(root: &Path, profile: &Path, cache: &Path) -> bool {
    let stamp = fs::read_to_string(profile.join(STAMP)).unwrap_or_default();
    let Some((dates, key)) = stamp.split_once('\n') else {
        return false;
    };
    dates == dates_of(root, profile) && (key.is_empty() || cache.join(key).exists())
}

/// The modification times of what changes when cargo compiles something for the first time.
fn dates_of(root: &Path, profile: &Path) -> String {
    let paths = [
        profile.join(units::FINGERPRINTS),
        root.join("Cargo.lock"),
        root.join("Cargo.toml"),
    ];
    let date = |path: &PathBuf| {
        let date = fs::metadata(path).and_then(|m| m.modified()).ok()?;
        Some(date.duration_since(UNIX_EPOCH).ok()?.as_nanos().to_string())
    };
    let dates = paths.iter().map(|path| date(path).unwrap_or_default());
    dates.collect::<Vec<_>>().join(" ")
}

impl Place {
    fn of(metadata: &Metadata, cache: PathBuf) -> Result<Self> {
        Ok(Self {
            root: metadata.root.clone(),
            profile: metadata.build_directory.join(PROFILE),
            cache,
            surroundings: Surroundings::here(&metadata.root)?,
        })
    }

    fn restore(&self) -> Result<()> {
        if self.profile.exists() || !self.cache.exists() {
            return Ok(());
        }
        let start = Instant::now();
        let key = key::of(&self.root, &self.surroundings)?;
        let cache = CacheFolder::open(&self.cache)?;
        // Another xtask of this clone may have been first.
        if self.profile.exists() {
            return Ok(());
        }
        if let Some(target) = self.profile.parent() {
            folder::remove_partial(target, PROFILE)?;
        }
        let list = match cache.content(&key) {
            Content::Nothing => return Ok(()),
            Content::Files(list) => list,
            Content::Damaged(why) => return throw_away(&cache, &key, &why),
        };
        match cache.restore(&key, &list, &self.profile) {
            Ok(restored) => {
                let seconds = start.elapsed().as_secs_f64();
                progress::step(&format!(
                    "restored {} units of third-party crates from the build cache, {} MiB, \
                     in {seconds:.1} s",
                    restored.units,
                    restored.bytes >> 20,
                ));
                cache.note_use(&key)
            }
            Err(NotRestored::Damaged(why)) => throw_away(&cache, &key, &why),
            Err(NotRestored::Failed(error)) => Err(error),
        }
    }

    fn save(&self, metadata: &Metadata) -> Result<()> {
        if !self.profile.exists() {
            return Ok(());
        }
        let start = Instant::now();
        let key = key::of(&self.root, &self.surroundings)?;
        let cache = CacheFolder::open(&self.cache)?;
        let Some(_cargos) = folder::try_lock(&self.profile.join(LOCK))? else {
            progress::detail(
                "another cargo is at work here, so the build cache is filled next time",
            );
            return Ok(());
        };
        let dates = dates_of(&self.root, &self.profile);
        let units = units::select(&self.profile, &Owners::of(metadata)?)?;
        let old = match cache.content(&key) {
            Content::Nothing => None,
            Content::Files(list) => Some(list),
            Content::Damaged(why) => {
                throw_away(&cache, &key, &why)?;
                None
            }
        };
        match cache.save(&key, &self.profile, &units, old.as_ref())? {
            Saved::Known if old.is_some() => cache.note_use(&key)?,
            Saved::Known => {}
            Saved::Added { units, bytes } => {
                let seconds = start.elapsed().as_secs_f64();
                progress::step(&format!(
                    "saved {units} new units of third-party crates in the build cache, {} MiB in all, \
                     in {seconds:.1} s",
                    bytes >> 20,
                ));
            }
            Saved::TooLarge { bytes } => progress::detail(&format!(
                "third-party crates are not saved: {} MiB are more than the {} MiB that the build \
                 cache may have",
                bytes >> 20,
                folder::BYTES_MAX >> 20
            )),
        }
        let key = match cache.place(&key).exists() {
            true => &key,
            false => "",
        };
        let stamp = self.profile.join(STAMP);
        fs::write(&stamp, format!("{dates}\n{key}"))
            .with_context(|| format!("failed to write {}", stamp.display()))
    }
}

fn throw_away(cache: &CacheFolder, key: &str, why: &anyhow::Error) -> Result<()> {
    progress::step(&format!(
        "the build cache is damaged and thrown away: {why:#}"
    ));
    cache.remove(key)
}
