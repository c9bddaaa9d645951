//! Packages of the plugin that does what its caller says: the same component with another version written into it, and a
//! manifest.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::server::binary;

/// Id of the plugin that does what its caller says.
pub const ID: &str = "test.plugin";

/// What its component has in place of its version.
pub const MARK: &str = "MARK:version-1.0.0:";

/// What the component of a version says of itself.
#[must_use]
pub fn mark(version: &str) -> String {
    format!("MARK:version-{version}:")
}

/// The folder of the guests that were built with the handlers.
///
/// # Errors
/// Nothing was built.
pub fn handlers() -> Result<PathBuf> {
    let release = std::env::current_exe()?;
    let release = release.ancestors().nth(2).context("a target folder")?;
    let beside_tests = release.join("../handlers");
    if beside_tests.exists() {
        return Ok(beside_tests);
    }
    let beside_binary = binary()?.parent().context("a folder")?.join("../handlers");
    ensure!(beside_binary.exists(), "run `cargo xtask handlers`");
    Ok(beside_binary)
}

/// The component of a guest, such as `guests/plugin.wasm`.
///
/// # Errors
/// It was not built.
pub fn component(path: &str) -> Result<Vec<u8>> {
    let path = handlers()?.join(path);
    fs::read(&path).with_context(|| format!("read {}: run `cargo xtask handlers`", path.display()))
}

/// Replace a text in a component by another of the same length.
///
/// # Errors
/// It is not there.
pub fn replaced(mut component: Vec<u8>, from: &str, to: &str) -> Result<Vec<u8>> {
    ensure!(from.len() == to.len(), "{from} and {to} differ in length");
    let mut windows = component.windows(from.len());
    let at = windows.position(|window| window == from.as_bytes());
    let at = at.with_context(|| format!("{from} is not in the component"))?;
    component[at..at + to.len()].copy_from_slice(to.as_bytes());
    Ok(component)
}

/// Write a package of the plugin [`ID`] with these lines in the tables `wants` and `limits` of its manifest.
///
/// # Errors
/// The component was not built, or the disk.
pub fn write_version(folder: &Path, version: &str, wants: &str, limits: &str) -> Result<()> {
    let component = replaced(component("guests/plugin.wasm")?, MARK, &mark(version))?;
    let text = |name: &str, default: &str| {
        format!("[config.{name}]\ntype = \"string\"\ndefault = \"{default}\"\n")
    };
    let settings = text("greeting", "hello") + &text("release", version);
    let tables = format!("[wants]\n{wants}\n[limits]\n{limits}\n{settings}");
    write(folder, &component, (ID, version), &tables)
}

/// Computing that a call of a plugin may do unless a test says otherwise, in ms: far more than any takes, since the
/// time counts in which its thread waits for a processor, and on a busy machine it gets the least of them.
const COMPUTE_MS: u32 = 10_000;

/// Tables of a manifest, with time to compute if they set none and no deadline.
#[must_use]
pub fn patient(tables: &str) -> String {
    if tables.contains("compute_ms") || tables.contains("deadline_ms") {
        return tables.to_owned();
    }
    let limits = format!("[limits]\ncompute_ms = {COMPUTE_MS}\n");
    match tables.split_once("[limits]\n") {
        Some((before, after)) => format!("{before}{limits}{after}"),
        None => format!("{tables}\n{limits}"),
    }
}

/// Write a package of a component, with its id and version, and these tables after them in its manifest, [`patient`].
///
/// # Errors
/// The disk.
pub fn write(
    folder: &Path,
    component: &[u8],
    (id, version): (&str, &str),
    tables: &str,
) -> Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join("plugin.wasm"), component)?;
    let plugin = format!("[plugin]\nid = \"{id}\"\nversion = \"{version}\"\napi = \"1.0\"\n");
    Ok(fs::write(
        folder.join("plugin.toml"),
        plugin + &patient(tables),
    )?)
}
