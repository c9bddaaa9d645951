//! The way without rustup's servers: Debian's compiler and the matching source of the standard
//! library, unpacked into a cache folder and never installed, since the packages conflict with rustup.
//!
//! The versions must match exactly. The host's compiler cannot build Debian's newer library (unknown
//! intrinsics and language items), so Debian's compiler builds it, driven by the host's cargo.

mod packages;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::{TARGET, Toolchain, host, rustc};
use crate::apt;
use crate::tool::Tool;

/// The folder of the user's cache that holds one folder per unpacked version.
const CACHE_NAME: &str = "hostd-guest-toolchain";

/// Extra flags of every cargo call: the library is built from source, and nightly-only flags are
/// allowed for the guest although the compiler is a stable one.
const BUILD_STD: &str = "-Zbuild-std=std,panic_abort";

/// The newest complete toolchain in the cache.
pub(crate) fn cached() -> Result<Option<Toolchain>> {
    let newest = apt::newest_in(&cache_folder(), |tree| compiler_in(tree).is_file());
    newest.map(|version| in_cache(&version)).transpose()
}

/// The toolchain from the cache, downloaded first when it is not there.
pub(crate) fn find_or_fetch() -> Result<Toolchain> {
    if let Some(toolchain) = cached()? {
        return Ok(toolchain);
    }
    apt::expect_programs()?;
    let set = packages::find()?;
    set.fetch(&cache_folder())?;
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

fn cache_folder() -> PathBuf {
    apt::cache_folder(CACHE_NAME)
}
