//! What the tests of the cache share, and clones that cargo really builds.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::key::Surroundings;
use super::owners::Owners;
use super::units::{self, Unit};
use super::{Place, file, is_as_before, key};
use crate::metadata::Metadata;
use crate::tool::Tool;

/// A folder that is removed at the end of a test.
pub(super) struct Scratch(pub(super) PathBuf);

impl Scratch {
    pub(super) fn new(name: &str) -> Self {
        let name = format!("xtask-cache-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    pub(super) fn write(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The profile's folder of a clone that was never compiled, with units as cargo would leave them.
pub(super) struct Compiled {
    scratch: Scratch,
}

impl Compiled {
    pub(super) fn new(name: &str) -> Self {
        let scratch = Scratch::new(name);
        Self { scratch }
    }

    pub(super) fn profile(&self) -> PathBuf {
        self.scratch.0.join("target/release")
    }

    pub(super) fn write(&self, path: &str, text: &str) {
        self.scratch.write(&format!("target/release/{path}"), text);
    }

    /// A library: its package, its hash, which is its fingerprint, too, and those of what it uses.
    pub(super) fn library(&self, package: &str, hash: &str, uses: &[&str]) {
        self.unit(&format!("{package}-{hash}"), "lib", hash, uses);
        let name = package.replace('-', "_");
        for kind in ["rlib", "rmeta"] {
            let path = format!("deps/lib{name}-{hash}.{kind}");
            self.write(&path, &format!("{kind} of {package}"));
        }
        self.write(
            &format!("deps/{name}-{hash}.d"),
            &format!("x: /cargo/registry/src/index/{package}-1.0.0/src/lib.rs\n"),
        );
    }

    /// A build script that has run and left files: their names, and what is in them beside the script's folder.
    pub(super) fn script(&self, package: &str, hash: &str, files: &[(&str, &str)]) {
        let name = format!("{package}-{hash}");
        self.unit(&name, "run-build-script", hash, &[]);
        let folder = self.profile().join(format!("build/{name}/out"));
        let folder = folder.to_str().unwrap();
        self.write(&format!("build/{name}/root-output"), folder);
        self.write(
            &format!("build/{name}/output"),
            &format!("cargo:root={folder}\n"),
        );
        for (file, text) in files {
            self.write(&format!("build/{name}/out/{file}"), text);
        }
    }

    pub(super) fn unit(&self, name: &str, kind: &str, hash: &str, uses: &[&str]) {
        let number = |hash: &&str| u64::from_str_radix(hash, 16).unwrap().swap_bytes();
        let uses = uses.iter().map(number);
        let uses: Vec<_> = uses
            .map(|n| serde_json::json!([1, "used", false, n]))
            .collect();
        let note = serde_json::json!({"rustc": 1, "deps": uses});
        self.write(&format!(".fingerprint/{name}/{kind}"), hash);
        self.write(
            &format!(".fingerprint/{name}/{kind}.json"),
            &note.to_string(),
        );
    }

    /// Units that can be saved, with `owners`.
    pub(super) fn units(&self) -> Vec<Unit> {
        units::select(&self.profile(), &owners()).unwrap()
    }
}

/// Of a workspace whose packages are `ours`, with the crate `our_crate`, and `both`; `both` is a third party's name, too.
pub(super) fn owners() -> Owners {
    let theirs =
        |name| format!("[[package]]\nname = \"{name}\"\nversion = \"1.0.0\"\nchecksum = \"00\"\n");
    let ours = |name| format!("[[package]]\nname = \"{name}\"\nversion = \"1.0.0\"\n");
    let lock = [
        theirs("outside"),
        theirs("user"),
        theirs("our-crate"),
        theirs("both"),
    ];
    let lock = lock.concat() + &ours("ours") + &ours("both");
    Owners::of_texts(&lock, &["our_crate"])
}

/// The modification time of every source: the same in all clones.
fn date() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_600_000_000)
}

/// A workspace with a package `ours` that uses the third-party package `outside`, from a folder in place of the registry.
struct Clone {
    scratch: Scratch,
}

impl Clone {
    fn new(name: &str, registry: &Path, text: &str) -> Self {
        let clone = Self {
            scratch: Scratch::new(name),
        };
        let registry = registry.display();
        clone.write(
            ".cargo/config.toml",
            &format!(
                "[source.crates-io]\nreplace-with = \"vendored\"\n\n\
                 [source.vendored]\ndirectory = \"{registry}\"\n"
            ),
        );
        clone.write(
            "Cargo.toml",
            "[workspace]\nmembers = [\"ours\"]\nresolver = \"3\"\n",
        );
        clone.write(
            "ours/Cargo.toml",
            "[package]\nname = \"ours\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
             [dependencies]\noutside = \"1\"\n",
        );
        clone.write(
            "ours/src/main.rs",
            &format!("fn main() {{\n    println!(\"{text} {{}}\", outside::ANSWER);\n}}\n"),
        );
        clone.lock("1.0.0");
        clone
    }

    fn write(&self, path: &str, text: &str) {
        self.scratch.write(path, text);
        let file = fs::File::open(self.scratch.0.join(path)).unwrap();
        file.set_modified(date()).unwrap();
    }

    fn lock(&self, version: &str) {
        let text = format!(
            "version = 4\n\n[[package]]\nname = \"ours\"\nversion = \"0.1.0\"\n\
             dependencies = [\n \"outside\",\n]\n\n\
             [[package]]\nname = \"outside\"\nversion = \"{version}\"\n\
             source = \"registry+https://github.com/rust-lang/crates.io-index\"\n\
             checksum = \"{CHECKSUM}\"\n"
        );
        self.write("Cargo.lock", &text);
    }

    fn cargo(&self) -> Tool {
        let cargo = Tool::cargo(&self.scratch.0);
        [
            "CARGO_TARGET_DIR",
            "CARGO_BUILD_TARGET_DIR",
            "CARGO_BUILD_BUILD_DIR",
            "CARGO_BUILD_TARGET",
        ]
        .into_iter()
        .fold(cargo, Tool::without_env)
    }

    fn build(&self) -> Vec<(String, bool)> {
        self.compile("build")
    }

    /// Runs a command of cargo that compiles, and returns each crate and whether cargo took it as compiled already.
    fn compile(&self, command: &str) -> Vec<(String, bool)> {
        let printed = self
            .cargo()
            .args([command, "--release", "--offline", "--locked"])
            .args(["--message-format", "json"])
            .read()
            .unwrap();
        let messages = printed
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        messages
            .filter(|message: &Value| message["reason"] == "compiler-artifact")
            .filter(|message| message["target"]["kind"] != serde_json::json!(["custom-build"]))
            .map(|message| {
                let name = message["target"]["name"].as_str().unwrap().to_owned();
                (name, message["fresh"].as_bool().unwrap())
            })
            .collect()
    }

    fn run(&self) -> String {
        Tool::new(self.scratch.0.join("target/release/ours"))
            .read()
            .unwrap()
    }

    fn metadata(&self) -> Metadata {
        let words = ["metadata", "--format-version", "1", "--offline", "--locked"];
        Metadata::parse(&self.cargo().args(words).read().unwrap()).unwrap()
    }

    fn place(&self, cache: &Path) -> Place {
        Place {
            root: self.scratch.0.clone(),
            profile: self.profile(),
            cache: cache.to_owned(),
            surroundings: Surroundings::here(&self.scratch.0).unwrap(),
        }
    }

    fn profile(&self) -> PathBuf {
        self.scratch.0.join("target/release")
    }
}

/// Cargo compares it with the lock file alone.
const CHECKSUM: &str = "c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00";

/// A folder in place of the registry, with two versions of a package that has a build script.
fn registry(name: &str) -> Scratch {
    let scratch = Scratch::new(&format!("registry-{name}"));
    for version in ["1.0.0", "1.0.1"] {
        let write = |path: &str, text: &str| {
            scratch.write(&format!("outside-{version}/{path}"), text);
        };
        write(
            "Cargo.toml",
            &format!(
                "[package]\nname = \"outside\"\nversion = \"{version}\"\nedition = \"2024\"\n"
            ),
        );
        write(
            "build.rs",
            "fn main() {\n    let folder = std::env::var(\"OUT_DIR\").unwrap();\n    \
             let code = \"pub const ANSWER: u8 = 42;\";\n    \
             std::fs::write(format!(\"{folder}/code.rs\"), code).unwrap();\n    \
             println!(\"cargo:rerun-if-changed=build.rs\");\n    \
             println!(\"cargo:rustc-env=CODE={folder}/code.rs\");\n}\n",
        );
        write("src/lib.rs", "include!(env!(\"CODE\"));\n");
        write(
            ".cargo-checksum.json",
            &format!("{{\"files\":{{}},\"package\":\"{CHECKSUM}\"}}"),
        );
    }
    scratch
}

fn copy_folder(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy_folder(&entry.path(), &to),
            false => file::copy(&entry.path(), &to).unwrap(),
        }
    }
}

#[test]
fn a_second_clone_compiles_and_runs_its_own_code_and_no_third_party_crate() {
    let (registry, cache) = (registry("of-clones"), Scratch::new("clones"));
    let named = |packages: &[(&str, bool)]| -> Vec<(String, bool)> {
        let packages = packages.iter();
        packages
            .map(|(name, fresh)| ((*name).to_owned(), *fresh))
            .collect()
    };
    let first = Clone::new("first", &registry.0, "first");
    // There is nothing to restore yet.
    first.place(&cache.0).restore().unwrap();
    assert!(!first.profile().exists());
    assert_eq!(first.build(), named(&[("outside", false), ("ours", false)]));
    assert_eq!(first.run(), "first 42\n");
    // Lints and documentation compile less of each crate.
    let checked = first.compile("check");
    assert_eq!(checked, named(&[("outside", false), ("ours", false)]));
    first.place(&cache.0).save(&first.metadata()).unwrap();

    // Cargo itself would run the first clone's code: the sources have the same names and dates.
    let copied = Clone::new("copied", &registry.0, "copied");
    copy_folder(&first.profile(), &copied.profile());
    assert_eq!(copied.build(), named(&[("outside", true), ("ours", true)]));
    assert_eq!(copied.run(), "first 42\n");

    let second = Clone::new("second", &registry.0, "second");
    second.place(&cache.0).restore().unwrap();
    // Nothing of the first clone is needed for it, not even its folder.
    drop((first, copied));
    assert_eq!(second.build(), named(&[("outside", true), ("ours", false)]));
    assert_eq!(second.run(), "second 42\n");
    let checked = second.compile("check");
    assert_eq!(checked, named(&[("outside", true), ("ours", false)]));

    // What was restored is not new, and can be compiled again where it is now.
    second.place(&cache.0).save(&second.metadata()).unwrap();
    assert_eq!(fs::read_dir(&cache.0).unwrap().count(), 2);
    fs::remove_dir_all(second.profile().join("deps")).unwrap();
    assert_eq!(
        second.build(),
        named(&[("outside", false), ("ours", false)])
    );

    // A file is damaged: nothing is restored, and nothing stays.
    let key = key::of(
        &second.scratch.0,
        &Surroundings::here(&second.scratch.0).unwrap(),
    )
    .unwrap();
    let damaged = fs::read_dir(cache.0.join(&key).join("deps"))
        .unwrap()
        .next();
    fs::write(damaged.unwrap().unwrap().path(), "").unwrap();
    let third = Clone::new("third", &registry.0, "third");
    third.place(&cache.0).restore().unwrap();
    assert!(!third.profile().exists() && !cache.0.join(&key).exists());
    assert_eq!(third.build(), named(&[("outside", false), ("ours", false)]));
    assert_eq!(third.run(), "third 42\n");
}

#[test]
fn a_changed_lock_file_ignores_the_cache_and_a_look_is_short_if_nothing_changed() {
    let (registry, cache) = (registry("of-lock"), Scratch::new("lock"));
    let first = Clone::new("lock-1", &registry.0, "first");
    let is_as_before = || is_as_before(&first.scratch.0, &first.profile(), &cache.0);
    first.build();
    assert!(!is_as_before());
    first.place(&cache.0).save(&first.metadata()).unwrap();
    assert!(is_as_before());
    // A new unit.
    fs::create_dir(first.profile().join(".fingerprint/new-0123456789abcdef")).unwrap();
    assert!(!is_as_before());
    first.place(&cache.0).save(&first.metadata()).unwrap();
    assert!(is_as_before());

    let updated = Clone::new("lock-2", &registry.0, "updated");
    updated.lock("1.0.1");
    updated.place(&cache.0).restore().unwrap();
    assert!(!updated.profile().exists());
    updated.lock("1.0.0");
    updated.place(&cache.0).restore().unwrap();
    assert!(updated.profile().exists());

    // The cache was removed.
    fs::remove_dir_all(&cache.0).unwrap();
    assert!(!is_as_before());
}
