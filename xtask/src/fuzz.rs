//! Fuzz targets compile. Each crate of them is a workspace of its own, so no other check would notice one that does not.
//!
//! They are checked with the stable compiler and without libFuzzer itself, which only running them needs, at the versions
//! of dependencies that the whole project has.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::metadata::Metadata;
use crate::progress;
use crate::tool::Tool;

/// The folder of a crate that has its fuzz targets.
const FOLDER: &str = "fuzz";

/// Below the target folder: what the crates share.
const TARGET: &str = "fuzz";

/// Has the build of `libfuzzer-sys` take a library that is there already, rather than compile one. Nothing is linked.
const LIBRARY: (&str, &str) = ("CUSTOM_LIBFUZZER_PATH", "/nowhere/libnone.a");

/// Checks the fuzz targets of one package, or of all. A failure does not hide the ones after it.
pub(crate) fn run(package: Option<&str>) -> Result<()> {
    let metadata = Metadata::load()?;
    let crates = crates(&metadata.root.join("hostd"))?;
    let mut failed = Vec::new();
    let mut count = 0;
    for folder in crates {
        let name = name(&folder);
        if package.is_some_and(|package| package != name) {
            continue;
        }
        count += 1;
        progress::step(&format!("checking the fuzz targets of {name}"));
        if let Err(error) = check(&metadata, &folder) {
            progress::failure(&error);
            failed.push(name);
        }
    }
    match (package, count) {
        (Some(package), 0) => bail!("no package `{package}` has fuzz targets"),
        _ if failed.is_empty() => Ok(()),
        _ => bail!("fuzz targets that do not compile: {}", failed.join(", ")),
    }
}

/// The folders with fuzz targets: that of the server, and those of the packages below it, by their names.
fn crates(server: &Path) -> Result<Vec<PathBuf>> {
    let listed = fs::read_dir(server).context("failed to list the packages")?;
    let packages = listed.map(|entry| entry.map(|entry| entry.path()));
    let mut packages: Vec<PathBuf> = packages.collect::<Result<_, _>>()?;
    packages.sort();
    packages.push(server.to_owned());
    let folders = packages.into_iter().map(|package| package.join(FOLDER));
    Ok(folders
        .filter(|folder| folder.join("Cargo.toml").is_file())
        .collect())
}

/// The name of the package that a folder of fuzz targets belongs to.
fn name(folder: &Path) -> String {
    let package = folder.parent().and_then(Path::file_name);
    package.unwrap_or_default().to_string_lossy().into_owned()
}

fn check(metadata: &Metadata, folder: &Path) -> Result<()> {
    let lock = folder.join("Cargo.lock");
    fs::copy(metadata.root.join("Cargo.lock"), &lock)
        .with_context(|| format!("failed to write {}", lock.display()))?;
    Tool::cargo(folder)
        .args(["check", "--bins", "--target-dir"])
        .arg(metadata.target_directory.join(TARGET))
        .env(LIBRARY.0, LIBRARY.1)
        .run()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_with_fuzz_targets_is_found() {
        let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hostd");
        let names: Vec<String> = crates(&server)
            .unwrap()
            .iter()
            .map(|folder| name(folder))
            .collect();
        for expected in ["vendor-probes", "plugins", "pod-protocol", "hostd"] {
            assert!(names.iter().any(|name| name == expected), "{names:?}");
        }
    }
}
