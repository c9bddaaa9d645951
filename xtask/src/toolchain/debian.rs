//! The way without rustup's servers: Debian's compiler and the matching source of the standard
//! library, unpacked into a cache folder and never installed, since the packages conflict with rustup.
//!
//! The versions must match exactly. The host's compiler cannot build Debian's newer library (unknown
//! intrinsics and language items), so Debian's compiler builds it, driven by the host's cargo.

mod packages;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use self::packages::PackageSet;
use super::{TARGET, Toolchain, host, rustc};
use crate::tool::{self, Tool};

/// The folder of the user's cache that holds one folder per unpacked version.
const CACHE_NAME: &str = "hostd-guest-toolchain";

/// Extra flags of every cargo call: the library is built from source, and nightly-only flags are
/// allowed for the guest although the compiler is a stable one.
const BUILD_STD: &str = "-Zbuild-std=std,panic_abort";

/// The newest complete toolchain in the cache.
pub(crate) fn cached() -> Result<Option<Toolchain>> {
    let Ok(entries) = fs::read_dir(cache_folder()) else {
        return Ok(None);
    };
    let newest = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| !name.contains(PARTIAL) && compiler_in(&cache_folder().join(name)).is_file())
        .max();
    newest.map(|version| in_cache(&version)).transpose()
}

/// Marks a folder that is still being filled; complete ones lose it by a rename.
const PARTIAL: &str = ".partial-";

/// The toolchain from the cache, downloaded first when it is not there.
pub(crate) fn find_or_fetch() -> Result<Toolchain> {
    if let Some(toolchain) = cached()? {
        return Ok(toolchain);
    }
    for program in ["apt-get", "apt-cache", "dpkg"] {
        if !tool::is_installed(program) {
            bail!("{program} is not installed");
        }
    }
    let set = PackageSet::find()?;
    let tree = cache_folder().join(&set.version);
    let partial = cache_folder().join(format!("{}{PARTIAL}{}", set.version, std::process::id()));
    fs::create_dir_all(&partial)
        .with_context(|| format!("failed to create {}", partial.display()))?;
    let unpacked = set.unpack_into(&partial);
    // Another xtask may have finished first; its tree is as good as ours.
    if unpacked.is_err() || fs::rename(&partial, &tree).is_err() {
        fs::remove_dir_all(&partial)
            .with_context(|| format!("failed to remove {}", partial.display()))?;
    }
    unpacked?;
    in_cache(&set.version)
}

/// Adds Debian's compiler to one cargo call.
pub(crate) fn apply(cargo: Tool, tree: &Path, linker: &Path) -> Tool {
    let linker_key = format!(
        "CARGO_TARGET_{}_LINKER",
        TARGET.replace('-', "_").to_uppercase()
    );
    cargo
        .env("RUSTC", compiler_in(tree))
        .env("RUSTC_BOOTSTRAP", "1")
        .env("LD_LIBRARY_PATH", library_path(tree))
        .env(&linker_key, linker)
        .arg(BUILD_STD)
}

fn compiler_in(tree: &Path) -> PathBuf {
    tree.join("usr/bin/rustc")
}

fn in_cache(version: &str) -> Result<Toolchain> {
    let tree = cache_folder().join(version);
    if !compiler_in(&tree).is_file() {
        bail!(
            "{} holds no compiler; remove that folder and try again",
            tree.display()
        );
    }
    Ok(Toolchain::Debian {
        tree,
        version: version.to_owned(),
        linker: linker()?,
    })
}

/// The linker of the host's toolchain: Debian keeps its own in yet another package.
fn linker() -> Result<PathBuf> {
    let sysroot = rustc().args(["--print", "sysroot"]).read()?;
    let linker = Path::new(sysroot.trim())
        .join("lib/rustlib")
        .join(host()?)
        .join("bin/rust-lld");
    if !linker.is_file() {
        bail!(
            "the installed Rust has no {}; install Rust from https://rustup.rs",
            linker.display()
        );
    }
    Ok(linker)
}

/// The folders with the compiler's shared libraries, which carry the machine's name.
fn library_path(tree: &Path) -> PathBuf {
    let libraries = tree.join("usr/lib");
    fs::read_dir(&libraries)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.to_string_lossy().contains("-linux-gnu"))
        .unwrap_or(libraries)
}

/// The user's cache, so that every clone on this machine shares the download; this clone's `target`
/// where the user has no home.
fn cache_folder() -> PathBuf {
    let folder = |key: &str| std::env::var_os(key).filter(|value| !value.is_empty());
    folder("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| folder("HOME").map(|home| Path::new(&home).join(".cache")))
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../target"))
        .join(CACHE_NAME)
}
