//! Writes the generated bindings that the templates for C and Go carry. Who writes plugins needs no generator then.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

use super::remove;
use crate::metadata::Metadata;
use crate::progress;
use crate::tool::Tool;

/// The generator, of the version that the crates of this workspace use.
const GENERATOR: &str = "wit-bindgen";
const ADVICE: &str = "cargo install wit-bindgen-cli@0.63.0 --no-default-features --features c,go";

/// Says what contract the bindings were generated from; a test of the server compares.
const DIGEST: &str = "plugins/bindings.sha256";

/// What the generator for Go names its folders.
const GO_PREFIX: &str = "hostd_plugin_";

/// Generates them all.
pub(crate) fn write() -> Result<()> {
    let metadata = Metadata::load()?;
    let root = &metadata.root;
    let scratch = metadata.target_directory.join("plugins/bindings");
    for (language, options) in [("c", &["--no-object-file"][..]), ("go", &[])] {
        progress::step(&format!("bindings for {language}"));
        let template = root.join("plugins/templates").join(language);
        let folder = scratch.join(language);
        remove(&folder)?;
        let wit = folder.join("wit");
        copy(&root.join("wit/plugin"), &wit.join("deps/hostd-plugin"))?;
        copy(&template.join("wit"), &wit)?;
        let out = folder.join("out");
        Tool::new(GENERATOR)
            .advice(ADVICE)
            .args([language, "--world", "plugin", "--out-dir"])
            .arg(&out)
            .args(options)
            .arg(&wit)
            .read()?;
        if language == "c" {
            copy(&out, &template.join("bindings"))?;
            continue;
        }
        for name in names(&template)?
            .iter()
            .filter(|name| name.starts_with(GO_PREFIX))
        {
            remove(&template.join(name))?;
        }
        for name in names(&out)?
            .iter()
            .filter(|name| name.starts_with(GO_PREFIX))
        {
            copy(&out.join(name), &template.join(name))?;
        }
        let exports = "wit_exports.go";
        fs::copy(out.join(exports), template.join(exports))
            .with_context(|| format!("failed to copy {exports}"))?;
    }
    let digest = digest(&root.join("wit/plugin"))?;
    fs::write(root.join(DIGEST), digest + "\n").with_context(|| format!("failed to write {DIGEST}"))
}

/// SHA-256 of the contract without its comments, hexadecimal.
fn digest(wit: &Path) -> Result<String> {
    let mut digest = Sha256::new();
    for name in names(wit)? {
        let text = fs::read_to_string(wit.join(&name));
        let text = text.with_context(|| format!("failed to read {name}"))?;
        let lines = text.lines().map(str::trim);
        for line in lines.filter(|line| !line.is_empty() && !line.starts_with("//")) {
            digest.update(line);
            digest.update("\n");
        }
    }
    let bytes = digest.finalize();
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Names of what a folder has, sorted.
fn names(folder: &Path) -> Result<Vec<String>> {
    let failed = || format!("failed to read {}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).with_context(failed)? {
        let name = entry.with_context(failed)?.file_name();
        names.push(name.to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// Copies the files of a folder.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("failed to create {}", to.display()))?;
    for name in names(from)? {
        let file = from.join(&name);
        if file.is_file() {
            fs::copy(&file, to.join(&name))
                .with_context(|| format!("failed to copy {}", file.display()))?;
        }
    }
    Ok(())
}
