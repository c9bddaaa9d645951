//! Templates of plugins: complete examples, one for each language, with everything that their build does not fetch from
//! the registry of the language.

use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use plugins::id::PluginId;

use super::contract;

/// Paths and texts.
type Files = &'static [(&'static str, &'static str)];

include!(concat!(env!("OUT_DIR"), "/templates.rs"));

/// What the templates are called, and how the same name is written in Rust and in names of packages.
const ID: &str = "example.rails";
const PACKAGE: &str = "example-rails";
const MODULE: &str = "example_rails";

/// Where a template has the contract, and where the crate for Rust has it.
const WIT: &str = "wit/deps/hostd-plugin";
const SDK_WIT: &str = "sdk/wit";

/// The template with the crate `hostd-plugin`.
const RUST: &str = "rust";

/// Names of the languages.
pub fn languages() -> impl Iterator<Item = &'static str> {
    TEMPLATES.iter().map(|(language, _)| *language)
}

/// Write the template of a language into a new folder, for a plugin of this id.
///
/// # Errors
/// There is no such language, the folder has something in it, or it cannot be written.
pub fn write(language: &str, folder: &Path, id: &PluginId) -> anyhow::Result<()> {
    let found = TEMPLATES.iter().find(|(name, _)| *name == language);
    let (_, files) = found.with_context(|| {
        let names: Vec<_> = languages().collect();
        format!(
            "write a plugin in {language}: there are templates for {}",
            names.join(", ")
        )
    })?;
    let is_empty = fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none());
    if !is_empty {
        bail!(
            "write into {}: something is there; name a new folder",
            folder.display()
        );
    }
    for (path, text) in *files {
        put(&folder.join(path), &named(text, id))?;
    }
    let wit = match language {
        RUST => SDK_WIT,
        _ => WIT,
    };
    for (name, text) in contract::FILES {
        put(&folder.join(wit).join(name), text)?;
    }
    if language == RUST {
        for (path, text) in SDK {
            put(&folder.join("sdk/src").join(path), text)?;
        }
    }
    Ok(())
}

/// A text of the template with the id of the new plugin.
fn named(text: &str, id: &PluginId) -> String {
    let mut package = id.as_str().replace('.', "-");
    // Names of packages begin with a letter.
    if package.starts_with(|first: char| first.is_ascii_digit()) {
        package.insert_str(0, "plugin-");
    }
    text.replace(ID, id.as_str())
        .replace(MODULE, &package.replace('-', "_"))
        .replace(PACKAGE, &package)
}

fn put(path: &Path, text: &str) -> anyhow::Result<()> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).with_context(|| format!("make {}", folder.display()))?;
    fs::write(path, text).with_context(|| format!("write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use plugins::manifest::Manifest;

    fn id() -> PluginId {
        "acme.2nd-try".parse().unwrap()
    }

    #[test]
    fn each_template_is_a_plugin_of_the_asked_id_with_its_own_readme() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(
            languages().collect::<Vec<_>>(),
            ["c", "go", "python", "rust", "typescript"]
        );
        for language in languages() {
            let folder = dir.path().join(language);
            write(language, &folder, &id()).unwrap();
            let manifest = fs::read(folder.join("plugin.toml")).unwrap();
            let manifest = Manifest::parse(&manifest).unwrap();
            assert_eq!(manifest.id, id());
            let build = manifest.build.unwrap();
            let readme = fs::read_to_string(folder.join("README.md")).unwrap();
            let (_, built) = readme.split_once("## Build\n\n```sh\n").unwrap();
            assert!(built.starts_with(&build), "{language}: {readme}");
            for name in [ID, PACKAGE, MODULE] {
                assert!(!readme.contains(name), "{language}: {name}");
            }
            assert!(folder.join(".gitignore").is_file(), "{language}");
        }
        assert!(dir.path().join("rust/sdk/wit/http.wit").is_file());
        assert!(
            dir.path()
                .join("c/wit/deps/hostd-plugin/http.wit")
                .is_file()
        );
    }

    #[test]
    fn nothing_is_written_over_and_nothing_unknown_is_written() {
        let dir = tempfile::tempdir().unwrap();
        write("c", dir.path(), &id()).unwrap();
        let again = write("c", dir.path(), &id()).unwrap_err().to_string();
        assert!(again.contains("something is there"), "{again}");
        let other = write("cobol", dir.path(), &id()).unwrap_err().to_string();
        assert!(other.contains("there are templates for c, go"), "{other}");
    }

    #[test]
    fn names_of_packages_begin_with_a_letter() {
        assert_eq!(named("example-rails", &id()), "acme-2nd-try");
        assert_eq!(
            named("example_rails", &"3d.x".parse().unwrap()),
            "plugin_3d_x"
        );
    }

    #[test]
    fn the_bindings_for_c_and_go_are_those_of_the_contract() {
        use sha2::{Digest, Sha256};
        let mut digest = Sha256::new();
        for (_, text) in contract::FILES {
            let lines = text.lines().map(str::trim);
            for line in lines.filter(|line| !line.is_empty() && !line.starts_with("//")) {
                digest.update(line);
                digest.update("\n");
            }
        }
        let digest = hex::encode(digest.finalize());
        assert_eq!(
            include_str!("../../../plugins/bindings.sha256").trim(),
            digest,
            "the contract has changed; write the bindings again: cargo xtask plugins bindings"
        );
    }

    /// The crate's manifest for others has the versions of the workspace.
    #[test]
    fn the_crate_for_rust_needs_what_it_is_tested_with() {
        let workspace: toml::Table = include_str!("../../../Cargo.toml").parse().unwrap();
        let own: toml::Table = include_str!("../../../plugins/sdk/Cargo.toml")
            .parse()
            .unwrap();
        let theirs: toml::Table = include_str!("../../../plugins/templates/rust/sdk/Cargo.toml")
            .parse()
            .unwrap();
        assert_eq!(own["package"]["version"], theirs["package"]["version"]);
        assert_eq!(own["features"], theirs["features"]);
        let own = own["dependencies"].as_table().unwrap();
        let theirs = theirs["dependencies"].as_table().unwrap();
        assert!(own.keys().eq(theirs.keys()));
        for (name, needed) in theirs {
            let known = &workspace["workspace"]["dependencies"][name];
            assert_eq!(in_full(needed), in_full(known), "{name}");
            assert_eq!(own[name].get("optional"), needed.get("optional"), "{name}");
        }
    }

    /// What a manifest needs of another package, as a table, whether it always needs it or only with a feature.
    fn in_full(needed: &toml::Value) -> toml::Table {
        let mut table = match needed {
            toml::Value::Table(table) => table.clone(),
            version => toml::Table::from_iter([("version".to_owned(), version.clone())]),
        };
        table.remove("optional");
        table
    }
}
