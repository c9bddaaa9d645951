//! The published packages in a virtual environment of their own, and the tests that are published
//! with them. Nothing of either is changed.

use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::simulator::Simulator;
use super::tiers::Tier;
use crate::progress;
use crate::tool::{self, Tool};

/// The packages to install.
const REQUIREMENTS: &[&str] = &[
    "embeddedci[cloud,analysis]==2.13.3",
    "embeddedci-mcp==2.13.3",
    "pytest==9.2.0",
    "schemathesis==4.32.5",
    // A build of OpenOCD with the backend for probes behind TCP, which the clients look for.
    "openocd-esp32==0.12.0.post20260831",
    // OpenOCD is linked against it, and not every machine has it.
    "libusb-package==1.0.30.0",
    "pyserial==3.5",
];

/// The package whose source distribution has the tests.
const TESTED: &str = "embeddedci==2.13.3";

/// The folder and the archive of that source distribution.
const SOURCE: &str = "embeddedci-2.13.3";

/// Written last, with the requirements: a folder without it is created again.
const STAMP: &str = "installed.txt";

/// Columns of pytest's report, so that reasons are not truncated.
const REPORT_COLUMNS: &str = "220";

/// An environment in which the tests can run.
pub(super) struct Packages {
    python: PathBuf,
    /// The unpacked source distribution.
    source: PathBuf,
    /// A folder with `openocd`.
    tools: PathBuf,
}

impl Packages {
    /// Installs into `folder`, unless an earlier run has.
    pub(super) fn install(folder: &Path) -> Result<Self> {
        let environment = folder.join("venv");
        let packages = Self {
            python: environment.join("bin/python"),
            source: folder.join(SOURCE),
            tools: folder.join("tools"),
        };
        let wanted = REQUIREMENTS.join("\n");
        let stamp = folder.join(STAMP);
        if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
            return Ok(packages);
        }
        if !tool::is_installed("python3") {
            bail!("there is no python3; install Python 3.10 or newer with its venv module");
        }
        progress::step(&format!("installing {}", REQUIREMENTS.join(", ")));
        if folder.exists() {
            fs::remove_dir_all(folder)
                .with_context(|| format!("failed to clear {}", folder.display()))?;
        }
        fs::create_dir_all(&packages.tools)
            .with_context(|| format!("failed to create {}", packages.tools.display()))?;
        Tool::new("python3")
            .args(["-m", "venv"])
            .arg(&environment)
            .advice("Debian and Ubuntu have the module in the package python3-venv")
            .read()?;
        packages.pip(&["install"]).args(REQUIREMENTS).read()?;
        packages.install_openocd(&environment.join("bin/openocd-esp32"))?;
        // Without dependencies and from source: only the tests are needed, and wheels do not have
        // them.
        packages
            .pip(&["download", "--no-deps", "--no-binary", ":all:", "--dest"])
            .arg(folder)
            .arg(TESTED)
            .read()?;
        Tool::new(&packages.python)
            .args(["-m", "tarfile", "-e"])
            .arg(folder.join(format!("{SOURCE}.tar.gz")))
            .arg(folder)
            .read()?;
        fs::write(&stamp, wanted)
            .with_context(|| format!("failed to write {}", stamp.display()))?;
        Ok(packages)
    }

    /// Puts a command `openocd` among the tools; it finds the libusb that came with the packages.
    fn install_openocd(&self, program: &Path) -> Result<()> {
        let libusb = "import libusb_package; print(libusb_package.get_library_path())";
        let libusb = Tool::new(&self.python).args(["-c", libusb]).read()?;
        let libraries = self.tools.join("lib");
        fs::create_dir_all(&libraries)
            .with_context(|| format!("failed to create {}", libraries.display()))?;
        let name = libraries.join("libusb-1.0.so.0");
        symlink(libusb.trim(), &name)
            .with_context(|| format!("failed to link {}", name.display()))?;
        let script = format!(
            "#!/bin/sh\nLD_LIBRARY_PATH='{}' exec '{}' \"$@\"\n",
            libraries.display(),
            program.display()
        );
        let openocd = self.tools.join("openocd");
        fs::write(&openocd, script)
            .and_then(|()| fs::set_permissions(&openocd, Permissions::from_mode(0o755)))
            .with_context(|| format!("failed to write {}", openocd.display()))
    }

    /// The search path with the tools in front.
    fn path(&self) -> Result<OsString> {
        let others = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(self.tools.clone()).chain(std::env::split_paths(&others));
        std::env::join_paths(folders).context("the search path has a folder that cannot be in one")
    }

    fn pip(&self, words: &[&str]) -> Tool {
        Tool::new(&self.python)
            .args(["-m", "pip", "--quiet", "--disable-pip-version-check"])
            .args(words)
            .advice("the first run needs the Python package index; later ones do not")
    }

    /// Runs a tier's tests against a pod and returns what pytest printed. Failed tests are a
    /// result, not an error; exceeding `limit` is an error. `folder` belongs to this tier alone.
    pub(super) fn test(
        &self,
        tier: &Tier,
        pod: &Simulator,
        folder: &Path,
        limit: Duration,
    ) -> Result<String> {
        // An empty home, so that nobody's personal settings or logins take part.
        let home = folder.join("home");
        fs::create_dir_all(&home)
            .with_context(|| format!("failed to create {}", home.display()))?;
        let path = folder.join("pytest.txt");
        let log =
            File::create(&path).with_context(|| format!("failed to create {}", path.display()))?;
        let mut pytest = Tool::new(&self.python)
            .args(["-m", "pytest", "-q", "-rfEs", "--tb=no", "--color=no"])
            .args(["-p", "no:cacheprovider"])
            .args(["--benchpod-connection", &pod.address])
            .args(tier.files)
            .dir(&self.source)
            .output_to(log)?;
        for name in ambient(std::env::vars_os().filter_map(|(name, _)| name.into_string().ok())) {
            pytest = pytest.without_env(&name);
        }
        for (name, value) in tier.bench {
            pytest = pytest.env(name, value);
        }
        if let Some(console) = &pod.console {
            pytest = pytest.env("BENCHPOD_E2E_USB", console);
        }
        if let Some(cloud) = &pod.cloud {
            pytest = pytest
                .env("BENCHPOD_API_BASE", &cloud.base)
                .env("BENCHPOD_API_KEY", &cloud.key)
                .env("BENCHPOD_E2E_CLOUD_DEVICE", &cloud.device)
                .env("HOSTD_SIGN_IN_CODE", &cloud.code)
                .env("HOSTD_PROGRAM", &cloud.hostd);
        }
        pytest
            .env("EMBEDDEDCI_TEST_INSTALLED", "1")
            .env("PATH", self.path()?)
            .env("HOME", &home)
            .env("XDG_CONFIG_HOME", &home)
            .env("COLUMNS", REPORT_COLUMNS)
            .finish_within(limit)?;
        fs::read_to_string(&path).with_context(|| format!("failed to read {}", path.display()))
    }
}

/// The variables among `names` that would change the outcome of the tests.
fn ambient(names: impl Iterator<Item = String>) -> Vec<String> {
    names
        .filter(|name| {
            ["BENCHPOD_", "EMBEDDEDCI_", "PYTEST_", "PYTHON"]
                .iter()
                .any(|prefix| name.starts_with(prefix))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_of_the_person_who_tests_takes_no_part() {
        let names = [
            "PATH",
            "BENCHPOD_E2E_USB",
            "PYTEST_ADDOPTS",
            "PYTHONPATH",
            "HOME",
        ];
        let removed = ambient(names.into_iter().map(str::to_owned));
        assert_eq!(
            removed,
            ["BENCHPOD_E2E_USB", "PYTEST_ADDOPTS", "PYTHONPATH"]
        );
    }

    #[test]
    fn the_tests_are_those_of_the_installed_version() {
        let version = TESTED.split_once("==").unwrap().1;
        assert!(SOURCE.ends_with(version));
        assert!(REQUIREMENTS[0].ends_with(version));
    }
}
