//! The workspace as `cargo metadata` describes it, reduced to what xtask needs.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::args::nearest;
use crate::tool::Tool;

/// The workspace and every package its build can need.
pub(crate) struct Metadata {
    pub(crate) root: PathBuf,
    pub(crate) target_directory: PathBuf,
    /// Where cargo keeps what it compiles on the way to what it was asked for.
    pub(crate) build_directory: PathBuf,
    pub(crate) packages: Vec<Package>,
    /// The names of packages from elsewhere, and where each comes from, as cargo writes it.
    pub(crate) sources: Vec<(String, String)>,
}

/// One package, of the workspace or from a registry.
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) licence: Option<String>,
    /// Its folder relative to the workspace's root; `None` for a package from elsewhere.
    pub(crate) folder: Option<String>,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) targets: Vec<Target>,
}

/// One line of a `[dependencies]` table.
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// True for `[dev-dependencies]`, which reach tests and benches only.
    pub(crate) is_dev: bool,
}

/// A library, binary, test or bench of a package.
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) kinds: Vec<String>,
    /// Whether its documentation has examples that are run.
    pub(crate) has_doc_tests: bool,
}

impl Metadata {
    /// Asks cargo about the workspace that this xtask was built from.
    pub(crate) fn load() -> Result<Self> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let json = Tool::cargo(here)
            .args(["metadata", "--format-version", "1"])
            .advice("the message above names the manifest that cargo could not read")
            .read()?;
        Self::parse(&json)
    }

    /// Reads the JSON that `cargo metadata --format-version 1` prints.
    pub(crate) fn parse(json: &str) -> Result<Self> {
        let value: Value = serde_json::from_str(json).context("failed to read cargo's metadata")?;
        let root = PathBuf::from(text(&value, "workspace_root")?);
        let packages = array(&value, "packages")?
            .iter()
            .map(|package| Package::parse(package, &root))
            .collect::<Result<Vec<_>>>()?;
        let sources = array(&value, "packages")?.iter().filter_map(|package| {
            let source = package.get("source").and_then(Value::as_str)?;
            Some((text(package, "name").ok()?.to_owned(), source.to_owned()))
        });
        let target_directory = PathBuf::from(text(&value, "target_directory")?);
        // An older cargo knows no other place than the target folder.
        let build_directory = text(&value, "build_directory").map(PathBuf::from);
        Ok(Self {
            root,
            build_directory: build_directory.unwrap_or_else(|_| target_directory.clone()),
            target_directory,
            packages,
            sources: sources.collect(),
        })
    }

    /// The workspace's own packages.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages
            .iter()
            .filter(|package| package.folder.is_some())
    }

    /// The workspace's own package of this name.
    pub(crate) fn member(&self, name: &str) -> Result<&Package> {
        let found = self.members().find(|package| package.name == name);
        found.with_context(|| {
            let names: Vec<&str> = self.members().map(|package| &*package.name).collect();
            format!("there is no package `{name}`{}", nearest(name, &names))
        })
    }

    /// The workspace's own package that contains a file, given relative to the root.
    pub(crate) fn owner(&self, file: &Path) -> Result<&Package> {
        // Packages can lie in each other's folders: the innermost one counts.
        let holds = |package: &&Package| {
            let folder = package.folder.as_deref();
            folder.is_some_and(|folder| file.starts_with(folder))
        };
        self.members()
            .filter(holds)
            .max_by_key(|package| package.folder.as_ref().map(String::len))
            .with_context(|| format!("{} belongs to no package", file.display()))
    }

    /// Whether a member of the workspace has a target of this name and kind ("bin", "bench", …).
    pub(crate) fn has_target(&self, package: &str, kind: &str, name: &str) -> bool {
        self.members()
            .filter(|member| member.name == package)
            .any(|member| {
                let mut targets = member.targets.iter();
                targets.any(|target| target.name == name && target.is(kind))
            })
    }
}

impl Target {
    /// Whether it has this kind: "bin", "test", "bench", …
    pub(crate) fn is(&self, kind: &str) -> bool {
        self.kinds.iter().any(|known| known == kind)
    }
}

impl Package {
    pub(crate) fn depends_on(&self, name: &str) -> bool {
        self.dependencies.iter().any(|d| d.name == name)
    }

    pub(crate) fn has_doc_tests(&self) -> bool {
        self.targets.iter().any(|target| target.has_doc_tests)
    }

    fn parse(value: &Value, root: &Path) -> Result<Self> {
        let manifest = PathBuf::from(text(value, "manifest_path")?);
        let is_foreign = value.get("source").is_some_and(|source| !source.is_null());
        let folder = manifest
            .parent()
            .and_then(|folder| folder.strip_prefix(root).ok())
            .filter(|_| !is_foreign)
            .map(|folder| folder.to_string_lossy().into_owned());
        let dependencies = array(value, "dependencies")?
            .iter()
            .map(|dependency| {
                Ok(Dependency {
                    name: text(dependency, "name")?.to_owned(),
                    is_dev: dependency.get("kind").and_then(Value::as_str) == Some("dev"),
                })
            })
            .collect::<Result<_>>()?;
        let targets = array(value, "targets")?
            .iter()
            .map(|target| {
                let kinds = array(target, "kind")?.iter().filter_map(Value::as_str);
                Ok(Target {
                    name: text(target, "name")?.to_owned(),
                    kinds: kinds.map(str::to_owned).collect(),
                    has_doc_tests: target.get("doctest") == Some(&Value::Bool(true)),
                })
            })
            .collect::<Result<_>>()?;
        Ok(Self {
            name: text(value, "name")?.to_owned(),
            version: text(value, "version")?.to_owned(),
            licence: value
                .get("license")
                .and_then(Value::as_str)
                .map(str::to_owned),
            folder,
            dependencies,
            targets,
        })
    }
}

fn text<'a>(value: &'a Value, key: &str) -> Result<&'a str> {
    value
        .get(key)
        .and_then(Value::as_str)
        .with_context(|| format!("failed to find the text `{key}` in cargo's metadata"))
}

fn array<'a>(value: &'a Value, key: &str) -> Result<&'a [Value]> {
    value
        .get(key)
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .with_context(|| format!("failed to find the list `{key}` in cargo's metadata"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_real_workspace_is_understood() {
        let metadata = Metadata::load().unwrap();
        let hostd = metadata.member("hostd").unwrap();
        assert_eq!(hostd.folder.as_deref(), Some("hostd"));
        assert!(
            hostd
                .dependencies
                .iter()
                .any(|d| d.name == "runtime" && !d.is_dev)
        );
        let error = metadata.member("hots").err().unwrap();
        assert!(
            error.to_string().contains("did you mean `hostd`?"),
            "{error}"
        );
        assert!(metadata.has_target("hostd", "bin", "hostd"));
        assert!(!metadata.has_target("hostd", "bin", "no-such-binary"));
        assert!(
            metadata
                .packages
                .iter()
                .any(|package| package.folder.is_none())
        );
    }

    #[test]
    fn metadata_that_lacks_a_field_is_an_error_that_names_it() {
        let error = Metadata::parse(r#"{"workspace_root": "/w"}"#)
            .err()
            .unwrap();
        assert!(error.to_string().contains("`packages`"), "{error}");
    }
}
