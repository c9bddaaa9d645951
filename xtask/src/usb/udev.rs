//! Debian's udevd for the machine, unpacked with the libraries that it is linked to: it gives nodes of devices their groups
//! and names.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::apt::{self, PackageSet};
use crate::machine::{self, Initrd};
use crate::tool::Tool;

const PACKAGE: &str = "udev";

/// Its folder in the user's cache.
const CACHE: &str = "hostd-test-udev";

/// What is there in any case: programs and libraries of two versions of it do not mix.
const LIBC: &str = "libc6";

/// Where it is in the machine, and the name by which it is the daemon.
const PROGRAM: &str = "usr/bin/udevadm";
const DAEMON: &str = "usr/lib/systemd/systemd-udevd";

/// Its own rules.
const RULES: &str = "usr/lib/udev/rules.d";

/// The groups that its rules and those of hostd name, as Debian numbers them; the last ones have no number there.
const GROUPS: &str = "\
root:x:0:
tty:x:5:
disk:x:6:
lp:x:7:
kmem:x:15:
dialout:x:20:
cdrom:x:24:
tape:x:26:
audio:x:29:
video:x:44:
plugdev:x:46:
input:x:101:
sgx:x:102:
kvm:x:103:
render:x:104:
";

/// The packages, unpacked.
pub(super) struct Udev {
    tree: PathBuf,
}

impl Udev {
    /// Finds it, or fetches it. The error says why it cannot be had.
    pub(super) fn find() -> Result<Self> {
        let cache = apt::cache_folder(CACHE);
        let cached = apt::newest_in(&cache, |tree| in_tree(tree, PROGRAM).is_some());
        let tree = match cached {
            Some(version) => cache.join(version),
            None => packages()?.fetch(&cache)?,
        };
        Ok(Self { tree })
    }

    /// Adds it with its libraries, its rules and their groups.
    pub(super) fn add_to(&self, initrd: &mut Initrd) -> Result<()> {
        let program = self.expect(PROGRAM)?;
        initrd.program(PROGRAM, &machine::read(&program)?)?;
        for library in self.libraries(&program)? {
            let place = library.strip_prefix(&self.tree).unwrap_or(&library);
            let place = machine::place(&place.to_string_lossy());
            initrd.program(&place, &machine::read(&library)?)?;
        }
        let rules = self.expect(RULES)?;
        let listed = || format!("failed to list {}", rules.display());
        for entry in fs::read_dir(&rules).with_context(listed)? {
            let file = entry.with_context(listed)?;
            let name = file.file_name();
            let place = format!("{RULES}/{}", name.to_string_lossy());
            initrd.file(&place, &machine::read(&file.path())?)?;
        }
        initrd.file("etc/group", GROUPS.as_bytes())?;
        initrd.link(DAEMON, "/usr/bin/udevadm")
    }

    fn expect(&self, path: &str) -> Result<PathBuf> {
        let tree = self.tree.display();
        in_tree(&self.tree, path)
            .with_context(|| format!("{tree} has no {path}; remove that folder and try again"))
    }

    /// The libraries of a program: those of the packages before those of this machine.
    fn libraries(&self, program: &Path) -> Result<Vec<PathBuf>> {
        let folders = ["usr/lib", "lib"].map(|folder| self.tree.join(folder).join(TRIPLE));
        let path = std::env::join_paths(folders).unwrap_or_else(|_| OsString::new());
        let told = Tool::new("ldd").env("LD_LIBRARY_PATH", path).arg(program);
        let told = told.read()?;
        if let Some(missing) = told.lines().find(|line| line.contains("not found")) {
            let missing = missing.trim();
            bail!("udevd lacks a library, which is in none of its packages: {missing}");
        }
        let libraries = machine::libraries_in(&told);
        Ok(libraries.into_iter().map(PathBuf::from).collect())
    }
}

/// The folder of libraries of the only machine that there is.
const TRIPLE: &str = "x86_64-linux-gnu";

/// A path as packages have it, or as they had it before `/lib` was a link.
fn in_tree(tree: &Path, path: &str) -> Option<PathBuf> {
    let paths = [path, path.trim_start_matches("usr/")].map(|path| tree.join(path));
    paths.into_iter().find(|path| path.exists())
}

fn packages() -> Result<PackageSet> {
    apt::expect_programs()?;
    let version = apt::candidate(PACKAGE)?;
    let version = version.with_context(|| format!("apt offers no {PACKAGE}; Debian does"))?;
    let mut packages = apt::dependencies_starting_with(PACKAGE, "lib")?;
    packages.retain(|package| package != LIBC);
    packages.push(PACKAGE.to_owned());
    Ok(PackageSet {
        title: format!("Debian's udev {version} (2 MB)"),
        version,
        packages,
    })
}
