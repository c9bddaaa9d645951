//! The key of what is saved: a digest of what decides how cargo compiles every third-party crate. Cargo looks at all of it
//! again, and at the features of each crate, and compiles what does not fit: a key of too little costs a build time, and
//! never its result.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};
use toml::Table;

use crate::tool::Tool;

/// Changes with the way in which units are saved.
const FORMAT: &str = "1";

/// Bytes of the digest that are the key.
const BYTES: usize = 16;

/// The folder of the workspace with settings of other programs than cargo: xtask passes some of them to cargo.
const SETTINGS: &str = ".config";

/// The settings there that have no say in what is compiled.
const NOT_CARGOS: &str = "nextest.toml";

/// Where a system says which one it is. Programs of build scripts are linked with its libraries.
const SYSTEM: &str = "/etc/os-release";

/// Beginnings of variables by which cargo and rustc compile differently.
const VARIABLES: &[&str] = &[
    "CARGO_BUILD_",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_PROFILE_",
    "CARGO_TARGET_",
    "CARGO_UNSTABLE_",
    "RUSTC",
    "RUSTFLAGS",
];

/// Those of them that say where something goes, or how many processors work at it.
const VARIABLES_OF_PLACES: &[&str] = &[
    "CARGO_BUILD_BUILD_DIR",
    "CARGO_BUILD_JOBS",
    "CARGO_BUILD_TARGET_DIR",
    "CARGO_TARGET_DIR",
    "CARGO_TARGET_TMPDIR",
];

/// What is outside of the workspace.
#[derive(Clone, Debug, Default)]
pub(super) struct Surroundings {
    /// What compiler, cargo and system say of themselves.
    compiler: String,
    variables: BTreeMap<String, OsString>,
    /// Cargo's own folder: the path of a third-party source is part of what cargo compares.
    cargo_home: PathBuf,
}

impl Surroundings {
    /// Asks the compiler, cargo and the environment.
    pub(super) fn here(root: &Path) -> Result<Self> {
        let program = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let mut compiler = Tool::new(program).arg("-vV").dir(root).read()?;
        // Not `-vV`, for which it starts programs that ask the system for its name.
        compiler.push_str(&Tool::cargo(root).arg("-V").read()?);
        compiler.push_str(&fs::read_to_string(SYSTEM).unwrap_or_default());
        let home = std::env::var_os("CARGO_HOME").filter(|home| !home.is_empty());
        let cargo_home = match (home, std::env::home_dir()) {
            (Some(home), _) => root.join(home),
            (None, Some(home)) => home.join(".cargo"),
            (None, None) => PathBuf::new(),
        };
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
            .collect();
        Ok(Self {
            compiler,
            variables,
            cargo_home,
        })
    }
}

/// The key for the workspace in `root`, in hexadecimal digits.
pub(super) fn of(root: &Path, surroundings: &Surroundings) -> Result<String> {
    let mut digest = Sha256::new();
    let mut add = |name: &str, content: &[u8]| {
        for part in [name.as_bytes(), content] {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
    };
    add("format", FORMAT.as_bytes());
    add("compiler", surroundings.compiler.as_bytes());
    add("lock", &read(&root.join("Cargo.lock"))?);
    add("profiles", profiles(root)?.as_bytes());
    for path in configurations(root, &surroundings.cargo_home) {
        add("configuration", &read(&path)?);
    }
    for path in settings(&root.join(SETTINGS)) {
        add("settings", &read(&path)?);
    }
    for (name, value) in &surroundings.variables {
        if is_of_compiling(name) {
            add(name, value.as_encoded_bytes());
        }
    }
    let home = surroundings.cargo_home.as_os_str();
    add("cargo home", home.as_encoded_bytes());
    let mut key = String::new();
    for byte in &digest.finalize()[..BYTES] {
        let _ = write!(key, "{byte:02x}");
    }
    Ok(key)
}

fn is_of_compiling(variable: &str) -> bool {
    VARIABLES.iter().any(|start| variable.starts_with(start))
        && !VARIABLES_OF_PLACES.contains(&variable)
}

/// The profiles of the workspace's manifest.
fn profiles(root: &Path) -> Result<String> {
    let path = root.join("Cargo.toml");
    let text = String::from_utf8(read(&path)?).context("the manifest is no text")?;
    let manifest: Table = text.parse().context("failed to read the manifest")?;
    Ok(manifest
        .get("profile")
        .map_or_else(String::new, toml::Value::to_string))
}

/// Cargo's configuration: of the workspace, of the folders above it and of the user.
fn configurations(root: &Path, cargo_home: &Path) -> Vec<PathBuf> {
    let folders = root.ancestors().map(|folder| folder.join(".cargo"));
    let mut found = Vec::new();
    for folder in folders.chain([cargo_home.to_owned()]) {
        for name in ["config.toml", "config"] {
            let path = folder.join(name);
            if path.is_file() && !found.contains(&path) {
                found.push(path);
            }
        }
    }
    found
}

/// Settings that xtask can pass to cargo.
fn settings(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|kind| kind == "toml"))
        .filter(|path| !path.ends_with(NOT_CARGOS))
        .collect();
    found.sort();
    found
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("failed to read {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::tests::Scratch;

    fn workspace(name: &str) -> Scratch {
        let scratch = Scratch::new(name);
        scratch.write("Cargo.lock", "version = 4\n");
        scratch.write(
            "Cargo.toml",
            "[workspace]\n\n[profile.release]\ndebug = 0\n",
        );
        scratch
    }

    fn surroundings() -> Surroundings {
        Surroundings {
            compiler: "rustc 1.95.0".to_owned(),
            variables: BTreeMap::new(),
            cargo_home: PathBuf::from("/cargo"),
        }
    }

    #[test]
    fn each_input_changes_the_key() {
        let scratch = workspace("key-inputs");
        let mut keys = vec![of(&scratch.0, &surroundings()).unwrap()];
        for (file, text) in [
            ("Cargo.lock", "version = 4\n\n[[package]]\nname = \"a\"\n"),
            ("Cargo.toml", "[profile.release]\ndebug = 1\n"),
            (".cargo/config.toml", "[build]\nrustflags = [\"-g\"]\n"),
            (".config/tests.toml", "[profile.release]\nopt-level = 1\n"),
        ] {
            scratch.write(file, text);
            keys.push(of(&scratch.0, &surroundings()).unwrap());
        }
        let mut other = surroundings();
        other.compiler.push('1');
        keys.push(of(&scratch.0, &other).unwrap());
        other.cargo_home.push("elsewhere");
        keys.push(of(&scratch.0, &other).unwrap());
        for variable in [
            "RUSTFLAGS",
            "CARGO_ENCODED_RUSTFLAGS",
            "CARGO_BUILD_RUSTFLAGS",
            "CARGO_PROFILE_RELEASE_LTO",
        ] {
            other.variables.insert(variable.to_owned(), "x".into());
            keys.push(of(&scratch.0, &other).unwrap());
        }
        let different: std::collections::BTreeSet<&String> = keys.iter().collect();
        assert_eq!(different.len(), keys.len(), "{keys:?}");
        assert!(keys.iter().all(|key| key.len() == 2 * BYTES));
    }

    #[test]
    fn what_does_not_change_third_party_crates_leaves_the_key() {
        let scratch = workspace("key-same");
        let key = of(&scratch.0, &surroundings()).unwrap();
        scratch.write(".config/nextest.toml", "[profile.ci]\nretries = 1\n");
        scratch.write(
            "Cargo.toml",
            "[workspace]\nmembers = []\n\n[profile.release]\ndebug = 0\n",
        );
        let mut other = surroundings();
        for variable in VARIABLES_OF_PLACES
            .iter()
            .copied()
            .chain(["CARGO_PKG_NAME", "PATH"])
        {
            other.variables.insert(variable.to_owned(), "x".into());
        }
        assert_eq!(of(&scratch.0, &other).unwrap(), key);
        let clone = workspace("key-clone");
        assert_eq!(of(&clone.0, &surroundings()).unwrap(), key);
    }

    #[test]
    fn without_a_lock_file_there_is_no_key() {
        let scratch = Scratch::new("key-none");
        let error = of(&scratch.0, &surroundings()).unwrap_err();
        assert!(format!("{error:#}").contains("Cargo.lock"), "{error:#}");
    }
}
