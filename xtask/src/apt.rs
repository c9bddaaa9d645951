//! Debian's packages, unpacked into a folder of the user's cache; installed only on machines of CI.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::progress;
use crate::tool::{self, Tool};

/// Marks a folder that is still being filled; complete ones lose it by a rename.
const PARTIAL: &str = ".partial-";

/// How long fetching the lists may take. It takes seconds.
const LISTED_WITHIN: Duration = Duration::from_secs(180);

/// How long installing packages may take, with other programs that install at the same time.
const INSTALLED_WITHIN: Duration = Duration::from_secs(600);

/// The words of the program that install packages.
const INSTALL: [&str; 3] = ["install", "--yes", "--no-install-recommends"];

/// Options that bound each of its waits: seconds for another program that installs, and for a server, which is asked twice.
const WAITS: [&str; 3] = [
    "DPkg::Lock::Timeout=60",
    "Acquire::http::Timeout=30",
    "Acquire::Retries=1",
];

/// Packages that are unpacked into one folder.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PackageSet {
    /// Names the folder.
    pub(crate) version: String,
    /// As apt-get takes them: `name=version` where the version must match.
    pub(crate) packages: Vec<String>,
    /// What people call them, and how large the download is.
    pub(crate) title: String,
}

impl PackageSet {
    /// Downloads the packages and unpacks them into a folder of `cache`.
    pub(crate) fn fetch(&self, cache: &Path) -> Result<PathBuf> {
        let tree = cache.join(&self.version);
        let partial = cache.join(format!("{}{PARTIAL}{}", self.version, std::process::id()));
        fs::create_dir_all(&partial)
            .with_context(|| format!("failed to create {}", partial.display()))?;
        let unpacked = self.unpack_into(&partial);
        // Another xtask may have finished first; its tree is as good as ours.
        if unpacked.is_err() || fs::rename(&partial, &tree).is_err() {
            fs::remove_dir_all(&partial)
                .with_context(|| format!("failed to remove {}", partial.display()))?;
        }
        unpacked?;
        Ok(tree)
    }

    fn unpack_into(&self, tree: &Path) -> Result<()> {
        let archives = tree.join("archives");
        fs::create_dir_all(&archives)
            .with_context(|| format!("failed to create {}", archives.display()))?;
        let title = &self.title;
        progress::step(&format!("downloading {title}, once for this machine"));
        download(&self.packages, &archives)?;
        for entry in fs::read_dir(&archives)
            .with_context(|| format!("failed to list {}", archives.display()))?
        {
            let archive = entry.context("failed to list a folder of packages")?;
            progress::step(&format!(
                "unpacking {}",
                archive.file_name().to_string_lossy()
            ));
            Tool::new("dpkg")
                .arg("-x")
                .arg(archive.path())
                .arg(tree)
                .run()?;
        }
        fs::remove_dir_all(&archives)
            .with_context(|| format!("failed to remove {}", archives.display()))
    }
}

/// Leaves the archives of packages in `folder`, after fetching new lists if those known are too old.
pub(crate) fn download(packages: &[String], folder: &Path) -> Result<()> {
    if try_download(packages, folder).is_ok() {
        return Ok(());
    }
    // Lists that are too old name files that the archive no longer has.
    update_lists()?;
    try_download(packages, folder)
}

fn try_download(packages: &[String], folder: &Path) -> Result<()> {
    Tool::new("apt-get")
        // Root's cache cannot be entered by the user that apt would become for the download.
        .args([
            "--quiet",
            "--quiet",
            "--option",
            "APT::Sandbox::User=root",
            "download",
        ])
        .args(packages)
        .dir(folder)
        .advice("check that apt's servers can be reached")
        .run()
}

/// The user's cache, so that every clone on this machine shares the download; this clone's `target`
/// where the user has no home.
pub(crate) fn cache_folder(name: &str) -> PathBuf {
    users_cache()
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../target"))
        .join(name)
}

/// The folder for caches of a user who has a home.
pub(crate) fn users_cache() -> Option<PathBuf> {
    let folder = |key: &str| std::env::var_os(key).filter(|value| !value.is_empty());
    folder("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| folder("HOME").map(|home| Path::new(&home).join(".cache")))
}

/// The newest version in `cache` whose folder is complete.
pub(crate) fn newest_in(cache: &Path, is_complete: impl Fn(&Path) -> bool) -> Option<String> {
    let entries = fs::read_dir(cache).ok()?;
    entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| !name.contains(PARTIAL) && is_complete(&cache.join(name)))
        .max()
}

/// Fails where packages cannot be fetched.
pub(crate) fn expect_programs() -> Result<()> {
    for program in ["apt-get", "apt-cache", "dpkg"] {
        if !tool::is_installed(program) {
            bail!("{program} is not installed");
        }
    }
    Ok(())
}

/// The version of a package that apt would install, after fetching its lists when they know nothing yet.
pub(crate) fn candidate(package: &str) -> Result<Option<String>> {
    if let Some(version) = known_candidate(package)? {
        return Ok(Some(version));
    }
    update_lists()?;
    known_candidate(package)
}

fn known_candidate(package: &str) -> Result<Option<String>> {
    let text = Tool::new("apt-cache")
        .env("LC_ALL", "C")
        .args(["policy", package])
        .read()?;
    Ok(candidate_in(&text))
}

fn candidate_in(policy: &str) -> Option<String> {
    policy
        .lines()
        .find_map(|line| line.trim().strip_prefix("Candidate: "))
        .filter(|version| *version != "(none)")
        .map(str::to_owned)
}

fn update_lists() -> Result<()> {
    progress::step("fetching apt's lists");
    apt_get()
        .arg("update")
        .advice("run `apt-get update` as root, then try again")
        .run_within(LISTED_WITHIN)
}

/// Installs packages in this system, which takes root, after fetching apt's lists. Of what is installed, only packages that
/// `may_go` names are removed for it: otherwise it fails. What apt says goes to `log`.
pub(crate) fn install(packages: &[&str], may_go: &[&str], log: &Path) -> Result<()> {
    expect_programs()?;
    update_lists()?;
    let simulated = apt_get()
        .arg("--simulate")
        .args(INSTALL)
        .args(packages)
        .read()?;
    for package in removed_in(&simulated) {
        if !may_go.contains(&package) {
            bail!("apt would remove {package} for it");
        }
        progress::detail(&format!(
            "{package} is removed, since they exclude each other"
        ));
    }
    let file = File::create(log).with_context(|| format!("failed to create {}", log.display()))?;
    apt_get()
        .args(INSTALL)
        .args(packages)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .output_to(file)?
        .advice(format!("{} says why", log.display()))
        .run_within(INSTALLED_WITHIN)
}

/// The packages that apt says it would remove.
fn removed_in(simulated: &str) -> impl Iterator<Item = &str> {
    let lines = simulated.lines();
    lines.filter_map(|line| line.strip_prefix("Remv ")?.split_whitespace().next())
}

/// What a person types for the same.
pub(crate) fn install_command(packages: &[&str]) -> String {
    let (install, packages) = (INSTALL.join(" "), packages.join(" "));
    format!("apt-get update && apt-get {install} {packages}")
}

/// The program, which prints little and waits for nothing longer than a minute.
fn apt_get() -> Tool {
    let options = WAITS.iter().flat_map(|option| ["--option", option]);
    Tool::new("apt-get")
        .args(["--quiet", "--quiet"])
        .args(options)
}

/// The package with that beginning upon which another one depends.
pub(crate) fn dependency_starting_with(package: &str, prefix: &str) -> Result<String> {
    match dependency_in(&depends(package)?, prefix) {
        Some(name) => Ok(name),
        None => bail!("the package {package} depends on none named {prefix}…"),
    }
}

/// All packages with that beginning upon which another one depends.
pub(crate) fn dependencies_starting_with(package: &str, prefix: &str) -> Result<Vec<String>> {
    let text = depends(package)?;
    let names = dependencies_in(&text);
    Ok(names
        .filter(|name| name.starts_with(prefix))
        .map(str::to_owned)
        .collect())
}

fn depends(package: &str) -> Result<String> {
    Tool::new("apt-cache")
        .env("LC_ALL", "C")
        .args(["depends", package])
        .read()
}

fn dependencies_in(depends: &str) -> impl Iterator<Item = &str> {
    depends
        .lines()
        .filter_map(|line| line.trim().strip_prefix("Depends: "))
}

fn dependency_in(depends: &str, prefix: &str) -> Option<String> {
    dependencies_in(depends)
        .find(|name| name.starts_with(prefix))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_candidate_is_read_from_the_policy() {
        let policy = "rustc-web:\n  Installed: (none)\n  Candidate: 1.96.0+dfsg1-1~deb12u2\n";
        assert_eq!(
            candidate_in(policy).as_deref(),
            Some("1.96.0+dfsg1-1~deb12u2")
        );
        assert_eq!(candidate_in("rustc-web:\n  Candidate: (none)\n"), None);
        assert_eq!(candidate_in(""), None);
    }

    #[test]
    fn what_would_be_removed_is_found() {
        let simulated = "Remv qemu-utils [1:10.0.2+ds-2+deb13u1~bpo12+1]\n\
            Inst seabios (1.16.2-1 Debian:12.15/oldstable [all])\n\
            Remv libfdt1:i386 [1.6.1-4]\nConf seabios (1.16.2-1 Debian:12.15/oldstable [all])\n";
        let removed: Vec<_> = removed_in(simulated).collect();
        assert_eq!(removed, ["qemu-utils", "libfdt1:i386"]);
    }

    #[test]
    fn the_versioned_library_is_found_among_the_dependencies() {
        let depends =
            "libstd-rust-web-dev\n  Depends: libstd-rust-web-1.96\n  Conflicts: <rustup>\n";
        let found = dependency_in(depends, "libstd-rust-web-");
        assert_eq!(found.as_deref(), Some("libstd-rust-web-1.96"));
        assert_eq!(dependency_in(depends, "libllvm"), None);
    }
}
