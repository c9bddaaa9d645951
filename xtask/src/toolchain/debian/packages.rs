//! Which of Debian's packages make a toolchain, and how they get into a folder.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::progress;
use crate::tool::Tool;

/// The compiler's package; the others are found from it.
const COMPILER: &str = "rustc-web";
/// The compiler's standard library for the host, which macros and build scripts need.
const HOST_LIBRARY: &str = "libstd-rust-web-dev";
/// The source of the standard library.
const SOURCE: &str = "rust-web-src";

/// The packages of one version.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PackageSet {
    pub(crate) version: String,
    /// In the form that apt-get takes: `name=version` where the version must match.
    pub(crate) packages: Vec<String>,
}

impl PackageSet {
    /// Asks apt, after fetching its lists if it has none yet.
    pub(crate) fn find() -> Result<Self> {
        let version = match candidate()? {
            Some(version) => version,
            None => {
                update_lists()?;
                candidate()?.with_context(|| {
                    format!("apt offers no package {COMPILER}; Debian's security archive does")
                })?
            }
        };
        let driver = dependency_starting_with(HOST_LIBRARY, "libstd-rust-web-")?;
        let llvm = dependency_starting_with(&driver, "libllvm")?;
        let mut packages: Vec<String> = [COMPILER, HOST_LIBRARY, SOURCE, &driver]
            .iter()
            .map(|name| format!("{name}={version}"))
            .collect();
        packages.push(llvm);
        Ok(Self { version, packages })
    }

    /// Downloads the packages and unpacks them into `tree`.
    pub(crate) fn unpack_into(&self, tree: &Path) -> Result<()> {
        let archives = tree.join("archives");
        fs::create_dir_all(&archives)
            .with_context(|| format!("failed to create {}", archives.display()))?;
        progress::step(&format!(
            "downloading Debian's compiler {} (once for this machine, 140 MB)",
            self.version
        ));
        if self.download(&archives).is_err() {
            // Outdated lists name files that the archive no longer has.
            update_lists()?;
            self.download(&archives)?;
        }
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

    fn download(&self, folder: &Path) -> Result<()> {
        Tool::new("apt-get")
            // Apt downloads as another user, who cannot enter root's cache.
            .args([
                "--quiet",
                "--quiet",
                "--option",
                "APT::Sandbox::User=root",
                "download",
            ])
            .args(&self.packages)
            .dir(folder)
            .advice("check that apt's servers can be reached")
            .run()
    }
}

fn update_lists() -> Result<()> {
    progress::step("fetching apt's lists");
    Tool::new("apt-get")
        .args(["--quiet", "--quiet", "update"])
        .advice("run `apt-get update` as root, then try again")
        .run()
}

/// The version of the compiler that apt would install.
fn candidate() -> Result<Option<String>> {
    let text = Tool::new("apt-cache")
        .env("LC_ALL", "C")
        .args(["policy", COMPILER])
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

fn dependency_starting_with(package: &str, prefix: &str) -> Result<String> {
    let text = Tool::new("apt-cache")
        .env("LC_ALL", "C")
        .args(["depends", package])
        .read()?;
    match dependency_in(&text, prefix) {
        Some(name) => Ok(name),
        None => bail!("the package {package} depends on none named {prefix}…"),
    }
}

fn dependency_in(depends: &str, prefix: &str) -> Option<String> {
    depends
        .lines()
        .filter_map(|line| line.trim().strip_prefix("Depends: "))
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
    fn the_versioned_library_is_found_among_the_dependencies() {
        let depends =
            "libstd-rust-web-dev\n  Depends: libstd-rust-web-1.96\n  Conflicts: <rustup>\n";
        let found = dependency_in(depends, "libstd-rust-web-");
        assert_eq!(found.as_deref(), Some("libstd-rust-web-1.96"));
        assert_eq!(dependency_in(depends, "libllvm"), None);
    }
}
