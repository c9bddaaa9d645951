//! `cargo xtask web`: the web application, from its sources to `web/dist`, which is committed: only who changes it needs
//! Node.js. Its own programs do the work: `build.mjs`, `api.mjs`, `test.mjs` and `test/e2e.mjs` in `web/`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::args::Options;
use crate::metadata::Metadata;
use crate::tool::{self, Tool};
use crate::{progress, server};

pub(crate) mod sources;

/// The folder of the application.
pub(crate) const FOLDER: &str = "web";

/// What is committed, in that folder.
const DIST: &str = "dist";

/// Runs the programs of the folder.
const NODE: &str = "node";

/// Installs their packages.
const NPM: &str = "npm";

/// What tests drive, as Debian calls it.
const BROWSER: &str = "chromium";

/// The lock file that was installed last, so that it is installed again when another one is there.
const INSTALLED: &str = "node_modules/.installed-lock.json";

/// What `web` should do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// Check the types, run the model tests, write `dist/`.
    Build,
    /// Write the types of the API from the document of the built server.
    Api,
    /// The model tests, and the tests in a browser against the built server.
    Test,
}

impl Work {
    pub(crate) const NAMES: &'static [&'static str] = &["api", "test"];

    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "api" => Some(Self::Api),
            "test" => Some(Self::Test),
            _ => None,
        }
    }
}

/// Does what was asked for.
pub(crate) fn run(work: Work, options: &Options) -> Result<()> {
    if let Some(why) = missing_tools() {
        bail!("{why}; install Node.js 20 or newer, which brings npm");
    }
    let web = Web::find()?;
    web.install()?;
    match work {
        Work::Build => {
            web.check()?;
            web.node("build.mjs").run()
        }
        Work::Api => {
            let hostd = server::build(options)?;
            web.node("api.mjs").arg("--of").arg(hostd).run()
        }
        Work::Test => {
            let hostd = server::build(options)?;
            web.check()?;
            match missing_browser() {
                Some(why) => bail!("the model tests passed; {why}"),
                None => web.browse(&hostd),
            }
        }
    }
}

/// Builds what is committed once more, and fails unless each byte is the same.
pub(crate) fn compare_prepared() -> Result<()> {
    let web = Web::find()?;
    web.check()?;
    let built = web.target.join(DIST);
    web.node("build.mjs").arg("--out").arg(&built).run()?;
    let different = differences(&contents(&web.folder.join(DIST))?, &contents(&built)?);
    if different.is_empty() {
        return Ok(());
    }
    bail!(
        "{} in {FOLDER}/{DIST} are not what the sources make: run `cargo xtask web` and commit what it writes",
        different.join(", ")
    )
}

/// Installs the packages, which takes a registry. The error says why they are not to be had.
pub(crate) fn install() -> Result<()> {
    Web::find()?.install()
}

/// The tests in a browser, against the server that is built.
pub(crate) fn browse_prepared() -> Result<()> {
    let metadata = Metadata::load()?;
    Web::find()?.browse(&server::binary(&metadata))
}

/// Why the application cannot be built here, if so.
pub(crate) fn missing_tools() -> Option<String> {
    let missing = [NODE, NPM].iter().find(|name| !tool::is_installed(name))?;
    Some(format!("there is no {missing}"))
}

/// Why its tests in a browser cannot run here, if so.
pub(crate) fn missing_browser() -> Option<String> {
    tool::find(BROWSER)
        .is_none()
        .then(|| format!("there is no {BROWSER}"))
}

/// The folder of the application, and where xtask may write.
struct Web {
    folder: PathBuf,
    target: PathBuf,
}

impl Web {
    fn find() -> Result<Self> {
        let metadata = Metadata::load()?;
        Ok(Self {
            folder: metadata.root.join(FOLDER),
            target: metadata.target_directory.join(FOLDER),
        })
    }

    fn node(&self, program: &str) -> Tool {
        Tool::new(NODE).arg(program).dir(&self.folder)
    }

    /// The packages of the lock file, exactly; no script of theirs runs.
    fn install(&self) -> Result<()> {
        let lock = fs::read(self.folder.join("package-lock.json"))
            .context("failed to read the lock file of web/")?;
        let installed = self.folder.join(INSTALLED);
        if fs::read(&installed).is_ok_and(|known| known == lock) {
            return Ok(());
        }
        progress::step("installing the packages of web/");
        Tool::new(NPM)
            .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
            .dir(&self.folder)
            .advice("check that npm's registry can be reached")
            .run()?;
        fs::write(&installed, lock)
            .with_context(|| format!("failed to write {}", installed.display()))
    }

    /// Types and model tests.
    fn check(&self) -> Result<()> {
        progress::step("checking the types of web/");
        Tool::new(NPM)
            .args(["run", "--silent", "check"])
            .dir(&self.folder)
            .run()?;
        progress::step("model tests of web/");
        self.node("test.mjs").run()
    }

    fn browse(&self, hostd: &Path) -> Result<()> {
        progress::step("tests of web/ in a browser");
        let screens = self.target.join("screens");
        let run = || {
            Tool::new(NODE)
                .args(["--test", "test/e2e.mjs"])
                .dir(&self.folder)
                .env("SERVER", hostd)
                .env("SCREENS", &screens)
                .run()
        };
        // Twice at most, as the other tests: what waits for a page may wait too long once on a busy machine.
        if let Err(error) = run() {
            progress::detail(&format!("{error:#}; once more"));
            run()?;
        }
        progress::detail(&format!("screenshots are in {}", screens.display()));
        Ok(())
    }
}

/// The files of a folder that has no folders, by name.
fn contents(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("failed to list {}", folder.display()))?;
    entries
        .map(|entry| {
            let path = entry.context("failed to list a folder of files")?.path();
            let name = path.file_name().unwrap_or_default();
            let content =
                fs::read(&path).with_context(|| format!("failed to read {}", path.display()))?;
            Ok((name.to_string_lossy().into_owned(), content))
        })
        .collect()
}

/// Names of files that only one of them has, or that differ.
fn differences(
    committed: &BTreeMap<String, Vec<u8>>,
    built: &BTreeMap<String, Vec<u8>>,
) -> Vec<String> {
    let mut names: Vec<String> = committed
        .keys()
        .chain(built.keys())
        .filter(|name| committed.get(*name) != built.get(*name))
        .cloned()
        .collect();
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_named_whichever_side_lacks_it() {
        let folder = |files: &[(&str, &str)]| -> BTreeMap<String, Vec<u8>> {
            let own = |(name, text): &(&str, &str)| ((*name).to_owned(), text.as_bytes().to_vec());
            files.iter().map(own).collect()
        };
        let committed = folder(&[("a", "1"), ("b", "2"), ("c", "3")]);
        let built = folder(&[("a", "1"), ("b", "other"), ("d", "4")]);
        assert_eq!(differences(&committed, &built), ["b", "c", "d"]);
        assert!(differences(&committed, &committed).is_empty());
    }
}
