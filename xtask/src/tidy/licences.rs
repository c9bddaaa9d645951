//! Which licences a dependency may have and where it may come from, as `deny.toml` says. `cargo deny`
//! checks this and more; this check costs nothing, so it runs everywhere.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use spdx::{Expression, Licensee, ParseMode};
use toml::{Table, Value};

use super::Finding;
use crate::metadata::{Metadata, Package};

/// The file with the rules, relative to the root.
const RULES: &str = "deny.toml";

/// How cargo writes that a package comes from a registry rather than from somebody's repository.
const REGISTRY: &str = "registry+";

/// The licence of every package of this workspace.
const OURS: &str = "Apache-2.0 OR MIT";

/// Checks every package that a build on any platform could use.
pub(super) fn check(metadata: &Metadata) -> Result<Vec<Finding>> {
    let rules = Rules::read(&metadata.root.join(RULES))?;
    let mut findings = Vec::new();
    for package in &metadata.packages {
        let place = format!("{} {}", package.name, package.version);
        let complaint = rules.complaint(package);
        findings.extend(complaint.map(|message| Finding::violation(place, message)));
    }
    for (package, source) in &metadata.sources {
        findings.extend((!source.starts_with(REGISTRY)).then(|| {
            let message = format!("comes from `{source}`; only the Rust registry is a source");
            Finding::violation(package, message)
        }));
    }
    Ok(findings)
}

/// The part of `deny.toml` about licences.
struct Rules {
    allowed: Vec<Licensee>,
    /// Packages that may have other licences.
    exceptions: Vec<(String, Vec<Licensee>)>,
}

impl Rules {
    fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path)
            .with_context(|| format!("failed to read {}", path.display()))?;
        Self::parse(&text).with_context(|| format!("failed to read the rules of {RULES}"))
    }

    fn parse(text: &str) -> Result<Self> {
        let table: Table = text.parse()?;
        let licences = table.get("licenses").context("it has no [licenses]")?;
        let exceptions = licences.get("exceptions").and_then(Value::as_array);
        let exceptions = exceptions.into_iter().flatten().map(|exception| {
            let package = exception.get("crate").and_then(Value::as_str);
            let package = package.context("an exception names no crate")?;
            Ok((package.to_owned(), terms(exception)?))
        });
        Ok(Self {
            allowed: terms(licences)?,
            exceptions: exceptions.collect::<Result<_>>()?,
        })
    }

    /// What is wrong with the licence of a package.
    fn complaint(&self, package: &Package) -> Option<String> {
        let Some(licence) = package.licence.as_deref() else {
            return Some("names no licence; find out what its terms are or use another".to_owned());
        };
        if package.folder.is_some() {
            return (licence != OURS)
                .then(|| format!("is under `{licence}`; write `license.workspace = true`"));
        }
        // As packages write licences, including the slash that used to stand for OR.
        let expression = match Expression::parse_mode(licence, ParseMode::LAX) {
            Ok(expression) => expression,
            Err(error) => return Some(format!("has a licence that cannot be read: {error}")),
        };
        let mut exceptions = self.exceptions.iter();
        let exception = exceptions.find(|(name, _)| *name == package.name);
        let mut allowed = self.allowed.clone();
        allowed.extend(exception.iter().flat_map(|(_, terms)| terms.clone()));
        let is_allowed = expression.evaluate(|term| allowed.iter().any(|a| a.satisfies(term)));
        (!is_allowed).then(|| format!("is under `{licence}`, which {RULES} does not allow"))
    }
}

/// The list `allow` of a table.
fn terms(table: &Value) -> Result<Vec<Licensee>> {
    let listed = table.get("allow").and_then(Value::as_array);
    let listed = listed.context("there is no list `allow`")?;
    let term = |value: &Value| {
        let text = value
            .as_str()
            .context("`allow` has something that is no text")?;
        Licensee::parse(text).with_context(|| format!("`{text}` is no licence"))
    };
    listed.iter().map(term).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
        [licenses]
        allow = ["MIT", "Unicode-3.0", "Apache-2.0 WITH LLVM-exception"]
        [[licenses.exceptions]]
        crate = "serialport"
        allow = ["MPL-2.0"]
    "#;

    fn package(name: &str, licence: Option<&str>) -> Package {
        Package {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            licence: licence.map(str::to_owned),
            folder: None,
            dependencies: Vec::new(),
            targets: Vec::new(),
        }
    }

    fn refusal(name: &str, licence: Option<&str>) -> Option<String> {
        Rules::parse(TEXT)
            .unwrap()
            .complaint(&package(name, licence))
    }

    #[test]
    fn permitted_terms_pass_and_others_do_not() {
        for licence in [
            "MIT/Apache-2.0",
            "MIT OR LGPL-2.1-or-later",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception",
        ] {
            assert_eq!(refusal("other", Some(licence)), None, "{licence}");
        }
        for licence in [
            "GPL-3.0-only",
            "MIT AND GPL-3.0-only",
            "Apache-2.0",
            "MPL-2.0",
        ] {
            let message = refusal("other", Some(licence)).unwrap();
            assert!(message.contains("does not allow"), "{message}");
        }
        let message = refusal("other", Some("MIT OR")).unwrap();
        assert!(message.contains("cannot be read"), "{message}");
        assert!(refusal("other", None).unwrap().contains("no licence"));
    }

    #[test]
    fn an_exception_stands_for_one_package_and_its_terms() {
        assert_eq!(refusal("serialport", Some("MPL-2.0")), None);
        assert!(refusal("serialport", Some("GPL-3.0-only")).is_some());
    }

    #[test]
    fn our_own_packages_carry_our_own_terms() {
        let rules = Rules::parse(TEXT).unwrap();
        let mut ours = package("ours", Some(OURS));
        ours.folder = Some("ours".to_owned());
        assert_eq!(rules.complaint(&ours), None);
        ours.licence = Some("MIT".to_owned());
        assert!(rules.complaint(&ours).is_some());
    }

    #[test]
    fn only_the_registry_and_the_workspace_are_sources() {
        let mut metadata = Metadata::load().unwrap();
        assert!(metadata.sources.len() > 100);
        assert_eq!(check(&metadata).unwrap(), []);
        metadata.sources[0].1 = "git+ssh://somebody".to_owned();
        assert_eq!(check(&metadata).unwrap().len(), 1);
    }

    #[test]
    fn rules_that_cannot_be_read_are_an_error() {
        for text in [
            "",
            "[licenses]\n",
            "[licenses]\nallow = [1]\n",
            "[licenses]\nallow = [\"Mine\"]\n",
        ] {
            assert!(Rules::parse(text).is_err(), "{text}");
        }
    }
}
