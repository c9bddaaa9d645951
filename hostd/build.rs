//! Lists the files of the templates of plugins and of the crate `hostd-plugin`, for the server to carry.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders and endings of what a build leaves behind.
const BUILT: [&str; 5] = [".venv", "build", "node_modules", "target", "__pycache__"];
const BUILT_ENDING: &str = "wasm";

fn main() {
    let here = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").expect("cargo says where"));
    let plugins = here
        .parent()
        .expect("it lies in the workspace")
        .join("plugins");
    let mut text = String::from("const TEMPLATES: &[(&str, Files)] = &[\n");
    for language in entries(&plugins.join("templates")) {
        let name = language.file_name().expect("it has a name");
        let name = name.to_str().expect("names are plain");
        writeln!(text, "({name:?}, {}),", list(&language)).expect("a text takes every line");
    }
    let sdk = list(&plugins.join("sdk/src"));
    writeln!(text, "];\nconst SDK: Files = {sdk};").expect("a text takes every line");
    let out = PathBuf::from(std::env::var("OUT_DIR").expect("cargo says where"));
    fs::write(out.join("templates.rs"), text).expect("cargo's folder can be written");
}

/// An expression for the files below a folder: their paths, and what is in them.
fn list(folder: &Path) -> String {
    let mut files = Vec::new();
    walk(folder, &mut files);
    let lines = files.iter().map(|file| {
        let name = file.strip_prefix(folder).expect("it was found below");
        format!("({name:?}, include_str!({file:?})),\n")
    });
    format!("&[\n{}]", lines.collect::<String>())
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    println!("cargo::rerun-if-changed={}", folder.display());
    for path in entries(folder) {
        let is_built = BUILT.iter().any(|name| path.ends_with(name))
            || path
                .extension()
                .is_some_and(|ending| ending == BUILT_ENDING);
        if is_built {
            continue;
        }
        match path.is_dir() {
            true => walk(&path, files),
            false => files.push(path),
        }
    }
}

/// What a folder has, by name.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let found = fs::read_dir(folder).expect("the folder of the workspace is there");
    let mut paths: Vec<PathBuf> = found
        .map(|entry| entry.expect("it can be read").path())
        .collect();
    paths.sort();
    paths
}
