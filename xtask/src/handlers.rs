//! Builds the guests: every `handlers/*`, `plugins/*` and `runtime/guests/*` package becomes a core module, then a
//! component, and the handlers are compiled ahead of time for the machine that will run hostd.
//!
//! An explicit step rather than a build script: the guests' toolchain is unusual enough that its
//! messages must reach the user, and nested cargo calls inherit an environment that breaks it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::args::Options;
use crate::component;
use crate::metadata::{Metadata, Package};
use crate::progress;
use crate::tool::Tool;
use crate::toolchain::{self, TARGET, Toolchain};

/// The profile of the workspace's manifest that guests are built with.
const PROFILE: &str = "guest";

/// The runtime's ahead-of-time compiler: `precompile --target TRIPLE OUT_FOLDER COMPONENT…` writes
/// `<stem>.cwasm` for each. It must be built from the same wasmtime, with the same settings, as the
/// server that loads the result.
pub(crate) const COMPILER: &str = "precompile";

/// Prints what the handlers' routes take and return.
pub(crate) const DESCRIBER: &str = "describe";

/// The custom section in which a component carries the description of its routes.
const DESCRIPTION: &str = "hostd:openapi";

/// What a plugin says of itself, beside its component.
const MANIFEST: &str = "plugin.toml";

/// A package that becomes a component.
#[derive(Debug, PartialEq, Eq)]
struct Guest {
    package: String,
    /// Where its component goes, relative to the folder of all handlers.
    output: PathBuf,
    is_handler: bool,
    /// The manifest of a plugin, relative to the root.
    manifest: Option<PathBuf>,
}

/// Builds all guests.
pub(crate) fn build(options: &Options) -> Result<()> {
    let metadata = Metadata::load()?;
    let guests = guests(metadata.members());
    if guests.is_empty() {
        bail!("there is no package named handler-… under handlers/, so there is nothing to serve");
    }
    let toolchain = toolchain::select(options.toolchain)?;
    progress::step(&format!(
        "building {} guests with {}",
        guests.len(),
        toolchain.describe()
    ));
    let scratch = metadata.root.join("target/guest");
    let out = output_folder(&metadata.root);
    let descriptions = describe(&metadata)?;
    for guest in &guests {
        let module = compile(&metadata, &toolchain, &scratch, guest)?;
        let bytes = fs::read(&module)
            .with_context(|| format!("failed to read {}, which cargo built", module.display()))?;
        let mut encoded = component::encode(&bytes)
            .with_context(|| format!("failed to package {}", guest.package))?;
        if options.verbose {
            for import in component::imports(&encoded)? {
                progress::detail(&format!("{} imports {import}", guest.package));
            }
        }
        let path = out.join(&guest.output);
        if guest.is_handler {
            let description = description(&descriptions, guest)?;
            component::attach(&mut encoded, DESCRIPTION, description.as_bytes());
            write_if_changed(&path.with_extension("openapi.json"), description.as_bytes())?;
        }
        if let Some(manifest) = &guest.manifest {
            let from = metadata.root.join(manifest);
            let text = fs::read(&from);
            let text = text.with_context(|| format!("failed to read {}", from.display()))?;
            write_if_changed(&path.with_file_name(MANIFEST), &text)?;
        }
        let news = if write_if_changed(&path, &encoded)? {
            "written"
        } else {
            "unchanged"
        };
        progress::detail(&format!(
            "{}: {} bytes, {news}",
            guest.output.display(),
            encoded.len()
        ));
    }
    precompile(&metadata, &guests, &scratch, &out)
}

/// What the routes of each group take and return. A program for this machine prints it, so that no
/// component carries it as code.
fn describe(metadata: &Metadata) -> Result<Value> {
    progress::step("describing the handlers' routes");
    crate::host::build(&metadata.root, &[DESCRIBER])?;
    let program = metadata.target_directory.join("release").join(DESCRIBER);
    let printed = Tool::new(program).read()?;
    serde_json::from_str(&printed)
        .with_context(|| format!("failed to read what {DESCRIBER} printed"))
}

fn description(all: &Value, guest: &Guest) -> Result<String> {
    let group = guest.output.file_stem().and_then(|stem| stem.to_str());
    let found = group.and_then(|group| all.get(group));
    let found = found
        .with_context(|| format!("{} is not in GROUPS of handlers/{DESCRIBER}", guest.package))?;
    Ok(found.to_string())
}

/// The folder for components; hostd embeds them from there, and cargo passes the configured one.
pub(crate) fn output_folder(root: &Path) -> PathBuf {
    std::env::var_os("HOSTD_HANDLERS")
        .map_or_else(|| root.join("target/handlers"), |folder| root.join(folder))
}

/// Finds the guests among the workspace's packages by their folders and names.
fn guests<'a>(members: impl Iterator<Item = &'a Package>) -> Vec<Guest> {
    let mut guests: Vec<Guest> = members
        .filter_map(|package| {
            let folder = package.folder.as_deref()?;
            let package = package.name.as_str();
            let guest = |output, is_handler| Guest {
                package: package.to_owned(),
                output,
                is_handler,
                manifest: None,
            };
            if folder.starts_with("handlers/") {
                let stem = package.strip_prefix("handler-")?;
                Some(guest(PathBuf::from(format!("{stem}.wasm")), true))
            } else if folder.starts_with("runtime/guests/") {
                let stem = package.strip_prefix("guest-")?;
                Some(guest(
                    Path::new("guests").join(format!("{stem}.wasm")),
                    false,
                ))
            } else if folder.starts_with("plugins/") {
                let stem = package.strip_prefix("plugin-")?;
                let output = Path::new("plugins").join(stem).join("plugin.wasm");
                let manifest = Some(Path::new(folder).join(MANIFEST));
                Some(Guest {
                    manifest,
                    ..guest(output, false)
                })
            } else {
                None
            }
        })
        .collect();
    guests.sort_by(|a, b| a.package.cmp(&b.package));
    guests
}

/// Compiles one guest to a core module and returns its path.
fn compile(
    metadata: &Metadata,
    toolchain: &Toolchain,
    scratch: &Path,
    guest: &Guest,
) -> Result<PathBuf> {
    // `cargo rustc` with only this crate type, since link-time optimisation is left out for a
    // library that is also built as an rlib.
    let cargo = Tool::cargo(&metadata.root)
        .args(["rustc", "--quiet", "--lib", "--crate-type", "cdylib"])
        .args([
            "--profile",
            PROFILE,
            "--target",
            TARGET,
            "--package",
            &guest.package,
        ])
        .arg("--target-dir")
        .arg(scratch);
    toolchain.apply(cargo).run()?;
    let file = format!("{}.wasm", guest.package.replace('-', "_"));
    Ok(scratch.join(TARGET).join(PROFILE).join(file))
}

/// Compiles the handlers' components to machine code with the runtime's own engine settings.
fn precompile(metadata: &Metadata, guests: &[Guest], scratch: &Path, out: &Path) -> Result<()> {
    if !metadata.has_target("runtime", "bin", COMPILER) {
        bail!("the package `runtime` has no binary `{COMPILER}`, which compiles the components");
    }
    progress::step("building the ahead-of-time compiler (wasmtime, minutes when it is new)");
    crate::host::build(&metadata.root, &[COMPILER])?;
    let fresh = scratch.join("precompiled");
    fs::create_dir_all(&fresh).with_context(|| format!("failed to create {}", fresh.display()))?;
    progress::step("compiling the handlers ahead of time");
    let handlers = || guests.iter().filter(|guest| guest.is_handler);
    Tool::new(metadata.target_directory.join("release").join(COMPILER))
        .args(["--target", &toolchain::host()?])
        .arg(&fresh)
        .args(handlers().map(|guest| out.join(&guest.output)))
        .run()?;
    for guest in handlers() {
        let file = guest.output.with_extension("cwasm");
        let path = fresh.join(&file);
        let bytes = fs::read(&path).with_context(|| {
            format!("failed to read {}, which {COMPILER} wrote", path.display())
        })?;
        write_if_changed(&out.join(&file), &bytes)?;
    }
    Ok(())
}

/// Writes a file unless it already has this content: cargo uses the modification time to decide
/// whether hostd, which embeds the file, must be built again.
fn write_if_changed(path: &Path, bytes: &[u8]) -> Result<bool> {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(false);
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)
            .with_context(|| format!("failed to create {}", folder.display()))?;
    }
    // A reader must never see half a component, so it appears under its name only when complete.
    let partial = path.with_extension("partial");
    fs::write(&partial, bytes)
        .and_then(|()| fs::rename(&partial, path))
        .with_context(|| format!("failed to write {}", path.display()))?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(folder: Option<&str>, name: &str) -> Package {
        Package {
            name: name.to_owned(),
            version: "0.1.0".to_owned(),
            licence: None,
            folder: folder.map(str::to_owned),
            dependencies: Vec::new(),
            targets: Vec::new(),
        }
    }

    #[test]
    fn guests_are_found_by_folder_and_name() {
        let packages = [
            package(Some("runtime/guests/hostile"), "guest-hostile"),
            package(Some("handlers/auth"), "handler-auth"),
            package(Some("handlers/guest"), "guest"),
            package(Some("plugins/rail-report"), "plugin-rail-report"),
            package(Some("plugins/sdk"), "hostd-plugin"),
            package(Some("hostd"), "hostd"),
            package(None, "handler-of-somebody-else"),
        ];
        let found = guests(packages.iter());
        let outputs: Vec<_> = found
            .iter()
            .map(|g| (g.output.to_str(), g.is_handler))
            .collect();
        assert_eq!(
            outputs,
            [
                (Some("guests/hostile.wasm"), false),
                (Some("auth.wasm"), true),
                (Some("plugins/rail-report/plugin.wasm"), false)
            ]
        );
    }

    #[test]
    fn an_output_that_stays_the_same_is_not_touched() {
        let folder = std::env::temp_dir().join(format!("xtask-handlers-{}", std::process::id()));
        let path = folder.join("inner/a.wasm");
        assert!(write_if_changed(&path, b"one").unwrap());
        let written = fs::metadata(&path).unwrap().modified().unwrap();
        assert!(!write_if_changed(&path, b"one").unwrap());
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), written);
        assert!(write_if_changed(&path, b"two").unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"two");
        fs::remove_dir_all(&folder).unwrap();
    }
}
