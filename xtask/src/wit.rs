//! The published contract with plugins, `wit/plugin/`: what was published stays as it was and is only added to.
//!
//! `wit/published/` has a list of each published version, and `plugins/fixtures/` components that were built for it. Both are
//! written by `cargo xtask wit publish`. Tidy compares the contract with the lists; a test loads the components.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use wit_parser::{PackageId, Resolve};

use crate::metadata::Metadata;
use crate::{handlers, progress};

mod compare;
mod listing;
pub(crate) mod reference;
mod words;

use listing::Listing;

/// The contract.
const PACKAGE: &str = "wit/plugin";

/// Lists of what was published.
const PUBLISHED: &str = "wit/published";

/// Components of what was published.
const FIXTURES: &str = "plugins/fixtures";

/// How the components of guests begin that become fixtures; the name of a world follows.
const FIXTURE: &str = "fixture-";

/// The contract, read and resolved.
pub(crate) struct Contract {
    resolve: Resolve,
    package: PackageId,
}

impl Contract {
    /// Of the repository at `root`.
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let folder = root.join(PACKAGE);
        let mut resolve = Resolve::default();
        let pushed = resolve.push_dir(&folder);
        let (package, _) =
            pushed.with_context(|| format!("failed to read {}", folder.display()))?;
        Ok(Self { resolve, package })
    }

    #[cfg(test)]
    fn parse(text: &str) -> Self {
        let mut resolve = Resolve::default();
        let package = resolve.push_source("contract.wit", text).unwrap();
        Self { resolve, package }
    }
}

/// Write the list of the present version, and keep its components.
pub(crate) fn publish() -> Result<()> {
    let root = Metadata::load()?.root;
    let present = Listing::of(&Contract::read(&root)?)?;
    let faults = compare::faults(&present, &published(&root)?);
    let path = path(&root, &present);
    if path.exists() {
        let before = Listing::parse(&read(&path)?)?;
        if before.items() == present.items() {
            progress::detail(&format!("{} is published as it is", present.version()));
            return keep(&root, &present);
        }
        bail!(
            "{} is published, and {PACKAGE}/ differs from it; raise the version there, or, if nobody has it yet, remove {} first",
            present.version(),
            path.display()
        );
    }
    if let Some(fault) = faults.iter().find(|fault| !fault.is_unpublished) {
        bail!("{}", fault.sentence);
    }
    fs::create_dir_all(root.join(PUBLISHED))
        .and_then(|()| fs::write(&path, present.to_string()))
        .with_context(|| format!("failed to write {}", path.display()))?;
    keep(&root, &present)
}

/// Keep the components of guests that were built for this version, unless there are some of it.
fn keep(root: &Path, present: &Listing) -> Result<()> {
    let guests = handlers::output_folder(root).join("guests");
    let folder = root.join(FIXTURES).join(present.version().to_string());
    let entries = fs::read_dir(&guests);
    let entries = entries.context("failed to find guests; run `cargo xtask handlers` first")?;
    for entry in entries {
        let path = entry.context("failed to list the guests")?.path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let Some(world) = name
            .strip_prefix(FIXTURE)
            .filter(|name| name.ends_with(".wasm"))
        else {
            continue;
        };
        let kept = folder.join(world);
        if kept.exists() {
            progress::detail(&format!("{} stays as it is", kept.display()));
            continue;
        }
        fs::create_dir_all(&folder)
            .and_then(|()| fs::copy(&path, &kept))
            .with_context(|| format!("failed to write {}", kept.display()))?;
    }
    Ok(())
}

/// What is wrong with the contract, as sentences.
pub(crate) fn check(root: &Path) -> Result<Vec<String>> {
    let present = Listing::of(&Contract::read(root)?)?;
    let faults = compare::faults(&present, &published(root)?);
    Ok(faults.into_iter().map(|fault| fault.sentence).collect())
}

fn path(root: &Path, listing: &Listing) -> PathBuf {
    root.join(PUBLISHED)
        .join(format!("{}.txt", listing.version()))
}

fn published(root: &Path) -> Result<Vec<Listing>> {
    let Ok(entries) = fs::read_dir(root.join(PUBLISHED)) else {
        return Ok(Vec::new());
    };
    let mut all = Vec::new();
    for entry in entries {
        let path = entry.context("failed to list what was published")?.path();
        if path.extension().is_some_and(|extension| extension == "txt") {
            let listing = Listing::parse(&read(&path)?);
            all.push(listing.with_context(|| format!("failed to read {}", path.display()))?);
        }
    }
    all.sort_by(|a, b| a.version().cmp(b.version()));
    Ok(all)
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("failed to read {}", path.display()))
}
