//! The picture of the layers in ARCHITECTURE.md is the rule: a crate of the server uses exactly the
//! crates of this workspace that its line lists, and only crates from lines below its own.

use super::Finding;
use crate::metadata::{Metadata, Package};

/// The file with the picture.
const MAP: &str = "ARCHITECTURE.md";

/// The line before the picture's.
const OPEN: &str = "```text layers";

/// The line after the picture.
const CLOSE: &str = "```";

/// The folders whose crates are in the picture.
const FOLDERS: [&str; 2] = ["hostd", "runtime"];

/// The folder below them whose crates are not in the picture: guests of tests.
const GUESTS: &str = "runtime/guests/";

/// A line of the picture.
#[derive(Debug, PartialEq, Eq)]
struct Layer<'t> {
    package: &'t str,
    uses: Vec<&'t str>,
    /// What its tests and benches use in addition.
    tests_use: Vec<&'t str>,
}

/// Compares the picture with the workspace.
pub(super) fn check(metadata: &Metadata) -> Vec<Finding> {
    match std::fs::read_to_string(metadata.root.join(MAP)) {
        Ok(text) => compare(&layers(&text), metadata.members()),
        Err(error) => vec![Finding::violation(MAP, format!("cannot be read: {error}"))],
    }
}

/// Reads the picture: `crate  used, used  (tests: used)` in each line.
fn layers(text: &str) -> Vec<Layer<'_>> {
    let lines = text.lines().skip_while(|line| *line != OPEN).skip(1);
    let lines = lines.take_while(|line| *line != CLOSE);
    let lines = lines.filter(|line| !line.trim().is_empty());
    lines.map(layer).collect()
}

fn layer(line: &str) -> Layer<'_> {
    let (rest, tests) = line.split_once("(tests:").unwrap_or((line, ""));
    let mut names = names(rest);
    Layer {
        package: names.next().unwrap_or_default(),
        uses: names.collect(),
        tests_use: self::names(tests).collect(),
    }
}

fn names(text: &str) -> impl Iterator<Item = &str> {
    let names = text.split(|c: char| !c.is_alphanumeric() && c != '-');
    names.filter(|name| !name.is_empty())
}

fn compare<'p>(layers: &[Layer<'_>], members: impl Iterator<Item = &'p Package>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let members: Vec<&Package> = members.collect();
    let ours: Vec<&str> = members.iter().map(|p| p.name.as_str()).collect();
    for package in members.into_iter().filter(|p| is_in_the_picture(p)) {
        let at = layers
            .iter()
            .position(|layer| layer.package == package.name);
        let Some(at) = at else {
            let message = format!("is missing in the picture of the layers in {MAP}");
            findings.push(Finding::violation(&package.name, message));
            continue;
        };
        findings.extend(compare_one(&layers[at], &layers[at + 1..], package, &ours));
    }
    let gone = layers.iter().filter(|layer| !ours.contains(&layer.package));
    findings.extend(gone.map(|layer| {
        let message = format!("there is no package {} any more", layer.package);
        Finding::violation(MAP, message)
    }));
    findings
}

fn is_in_the_picture(package: &Package) -> bool {
    let folder = package.folder.as_deref().unwrap_or_default();
    let top = folder.split('/').next().unwrap_or_default();
    FOLDERS.contains(&top) && !folder.starts_with(GUESTS)
}

fn compare_one(
    layer: &Layer<'_>,
    below: &[Layer<'_>],
    package: &Package,
    ours: &[&str],
) -> Vec<Finding> {
    let mut messages = Vec::new();
    for dependency in &package.dependencies {
        let name = dependency.name.as_str();
        let drawn =
            layer.uses.contains(&name) || dependency.is_dev && layer.tests_use.contains(&name);
        if ours.contains(&name) && !drawn {
            messages.push(format!(
                "uses {name}, which its line in {MAP} does not have"
            ));
        }
    }
    for name in &layer.uses {
        if !package.dependencies.iter().any(|d| d.name == *name) {
            messages.push(format!("does not use {name}, which its line in {MAP} has"));
        } else if !below.iter().any(|lower| lower.package == *name) {
            messages.push(format!("uses {name}, which {MAP} does not have below it"));
        }
    }
    let findings = messages.into_iter();
    findings
        .map(|message| Finding::violation(&package.name, message))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::Dependency;

    const PICTURE: &str = "# Map\n\n```text layers\ntop    middle, low\nmiddle  low  (tests: sim)\n\nsim    low\nlow\n```\n\n```text\nother  thing\n```\n";

    fn package(name: &str, uses: &[&str]) -> Package {
        let dependencies = uses.iter().map(|text| Dependency {
            name: text.trim_start_matches("dev:").to_owned(),
            is_dev: text.starts_with("dev:"),
        });
        Package {
            name: name.to_owned(),
            version: "0.1.0".to_owned(),
            licence: None,
            folder: Some(format!("hostd/{name}")),
            dependencies: dependencies.collect(),
            targets: Vec::new(),
        }
    }

    fn workspace() -> Vec<Package> {
        vec![
            package("top", &["middle", "low", "serde"]),
            package("middle", &["low", "dev:sim"]),
            package("low", &["tokio"]),
            package("sim", &["low"]),
        ]
    }

    fn found(members: &[Package]) -> Vec<String> {
        let findings = compare(&layers(PICTURE), members.iter());
        findings
            .into_iter()
            .map(|f| format!("{} {}", f.place, f.message))
            .collect()
    }

    #[test]
    fn a_picture_that_is_true_is_left_alone() {
        assert_eq!(found(&workspace()), [""; 0]);
    }

    #[test]
    fn each_difference_is_named() {
        let with = |at: usize, uses: &[&str]| {
            let mut members = workspace();
            let name = members[at].name.clone();
            members[at] = package(&name, uses);
            found(&members)
        };
        let low = with(2, &["sim"]);
        assert_eq!(
            low,
            ["low uses sim, which its line in ARCHITECTURE.md does not have"]
        );
        let middle = with(1, &["low", "sim"]);
        assert_eq!(
            middle,
            ["middle uses sim, which its line in ARCHITECTURE.md does not have"]
        );
        let top = with(0, &["middle"]);
        assert_eq!(
            top,
            ["top does not use low, which its line in ARCHITECTURE.md has"]
        );
    }

    #[test]
    fn every_crate_has_its_line_and_every_line_its_crate() {
        let mut members = workspace();
        members.push(package("new", &[]));
        assert_eq!(
            found(&members),
            ["new is missing in the picture of the layers in ARCHITECTURE.md"]
        );
        members = workspace();
        members.remove(3);
        assert_eq!(
            found(&members),
            ["ARCHITECTURE.md there is no package sim any more"]
        );
    }

    #[test]
    fn what_is_used_stands_below() {
        let upside_down = layers("```text layers\nlow\ntop low\n```");
        let members = [package("low", &[]), package("top", &["low"])];
        let findings = compare(&upside_down, members.iter());
        let message = "uses low, which ARCHITECTURE.md does not have below it";
        assert_eq!(findings, [Finding::violation("top", message)]);
    }
}
