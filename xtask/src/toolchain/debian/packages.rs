//! Which of Debian's packages make a toolchain.

use anyhow::{Context, Result};

use crate::apt::{self, PackageSet};

/// The compiler's package; the others are found from it.
const COMPILER: &str = "rustc-web";
/// The compiler's standard library for the host, which macros and build scripts need.
const HOST_LIBRARY: &str = "libstd-rust-web-dev";
/// The source of the standard library.
const SOURCE: &str = "rust-web-src";

/// Asks apt for the packages of its newest version.
pub(crate) fn find() -> Result<PackageSet> {
    let version = apt::candidate(COMPILER)?.with_context(|| {
        format!("apt offers no package {COMPILER}; Debian's security archive does")
    })?;
    let driver = apt::dependency_starting_with(HOST_LIBRARY, "libstd-rust-web-")?;
    let llvm = apt::dependency_starting_with(&driver, "libllvm")?;
    let mut packages: Vec<String> = [COMPILER, HOST_LIBRARY, SOURCE, &driver]
        .iter()
        .map(|name| format!("{name}={version}"))
        .collect();
    packages.push(llvm);
    Ok(PackageSet {
        title: format!("Debian's compiler {version} (140 MB)"),
        version,
        packages,
    })
}
