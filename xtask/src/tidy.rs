//! House rules as code: what the compiler cannot see and reviewers would forget. Each rule is a
//! module with a function from what it examines to findings, and tests that show that it can fail.

mod authority;
mod circles;
mod contract;
mod edges;
mod excerpts;
mod files;
mod layers;
mod licences;
mod map;
mod repository;
mod web;

use std::fmt;

use anyhow::{Result, bail};

use crate::metadata::Metadata;
use crate::{handlers, progress};
use repository::Repository;

/// Something that breaks a rule, or is about to.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    /// A file, package or component.
    place: String,
    /// What is wrong there and what to do.
    message: String,
    severity: Severity,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Severity {
    /// Must be fixed.
    Violation,
    /// Worth a look: something is growing too large.
    Warning,
}

impl Finding {
    fn violation(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            place: place.into(),
            message: message.into(),
            severity: Severity::Violation,
        }
    }

    fn warning(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            place: place.into(),
            message: message.into(),
            severity: Severity::Warning,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.severity == Severity::Warning {
            "warning: "
        } else {
            ""
        };
        write!(f, "{mark}{}: {}", self.place, self.message)
    }
}

/// Checks the whole repository, prints what it finds and fails on violations.
pub(crate) fn run() -> Result<()> {
    let findings = check()?;
    for finding in &findings {
        progress::detail(&finding.to_string());
    }
    let violations = findings
        .iter()
        .filter(|f| f.severity == Severity::Violation)
        .count();
    match violations {
        0 => Ok(()),
        count => bail!("{count} house rules are broken; the lines above say where and how"),
    }
}

fn check() -> Result<Vec<Finding>> {
    let metadata = Metadata::load()?;
    let repository = Repository::read(&metadata.root)?;
    let mut findings = edges::check(&metadata);
    findings.extend(layers::check(&metadata));
    findings.extend(licences::check(&metadata)?);
    findings.extend(files::check(&repository));
    findings.extend(circles::check(&repository));
    findings.extend(map::check(&repository));
    findings.extend(excerpts::check(&repository));
    findings.extend(web::check(&metadata.root, &repository)?);
    findings.extend(contract::check(&metadata.root)?);
    let components = handlers::output_folder(&metadata.root);
    findings.extend(authority::check(&metadata.root.join("wit"), &components)?);
    findings.sort();
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_keeps_its_own_rules() {
        let broken: Vec<String> = check()
            .unwrap()
            .iter()
            .filter(|finding| finding.severity == Severity::Violation)
            .map(Finding::to_string)
            .collect();
        assert!(broken.is_empty(), "{}", broken.join("\n"));
    }

    #[test]
    fn a_warning_is_marked_as_one() {
        let warning = Finding::warning("b.rs", "long");
        assert_eq!(warning.to_string(), "warning: b.rs: long");
        assert_eq!(
            Finding::violation("a.rs", "wrong").to_string(),
            "a.rs: wrong"
        );
    }
}
