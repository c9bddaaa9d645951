//! `[proxy]`: how the requests of a `wasi:http/proxy` component reach it.

use std::collections::BTreeSet;

use serde::Serialize;

use super::asks;
use super::limits::{Limit, limit, number};
use super::section::{Report, Section};

/// Its name.
const SECTION: &str = "proxy";

/// What a manifest says where any credential of the organisation will do.
const ANY: &str = "any";

/// The scope that callers need if the manifest names none.
pub const SCOPE_DEFAULT: &str = "bench:control";

/// Methods that can be mounted. `HEAD` comes with `GET`.
pub const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/// Largest body of a request in KiB; with 0, no body is read.
pub const BODY_KIB: Limit = limit("body_kib", 0, 1024, 8192);

/// Who may send which requests. The component declares none of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mount {
    /// Scope that the credential must carry; none = any credential of an organisation in which the plugin was approved.
    pub scope: Option<String>,
    /// Some of [`METHODS`].
    pub methods: BTreeSet<String>,
    /// See [`BODY_KIB`].
    pub body_kib: u32,
    /// Whether everybody may, without a credential.
    pub public: bool,
}

impl Default for Mount {
    fn default() -> Self {
        Self {
            scope: Some(SCOPE_DEFAULT.to_owned()),
            methods: METHODS.map(str::to_owned).into(),
            body_kib: BODY_KIB.default,
            public: false,
        }
    }
}

/// Reads the section, if it is there. `may_be_public`: whether the manifest asks to answer callers without a credential.
pub(super) fn read(
    whole: &mut Section<'_>,
    may_be_public: bool,
    report: &mut Report<'_>,
) -> Option<Mount> {
    let mut section = whole.take(SECTION)?.table(report)?;
    let at = section.at();
    let scope = section.text("scope", report, |text| match text {
        ANY => Ok(None),
        _ => asks::scope(text).map(Some),
    });
    let methods = section.texts("methods", METHODS.len(), report, method);
    let body_kib = number(&mut section, BODY_KIB, report);
    let public = section.flag("public", report).unwrap_or_default();
    if public && !may_be_public {
        report.note(at, &section.join("public"), "needs public = true in wants");
    }
    if public && scope.as_ref().is_some_and(Option::is_some) {
        let what = "cannot be asked of callers without a credential";
        report.note(at, &section.join("scope"), what);
    }
    section.finish(report);
    let default = Mount::default();
    let scope = scope.unwrap_or(default.scope);
    Some(Mount {
        scope: scope.filter(|_| !public),
        methods: match methods.is_empty() {
            true => default.methods,
            false => methods,
        },
        body_kib: body_kib.unwrap_or(default.body_kib),
        public,
    })
}

fn method(text: &str) -> Result<String, String> {
    match METHODS.contains(&text) {
        true => Ok(text.to_owned()),
        false => Err(format!("must be one of {}", METHODS.join(", "))),
    }
}
