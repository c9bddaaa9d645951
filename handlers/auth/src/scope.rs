//! Scopes that a key may carry.

use guest::{Fields, Shape, choice, list};

/// Manage keys and everything that needs a role otherwise.
pub(crate) const ADMIN: &str = "bench:admin";

/// Drive devices.
pub(crate) const CONTROL: &str = "bench:control";

/// Accepted spelling and stored name: published clients know some scopes by an older name.
const SCOPES: &[(&str, &str)] = &[
    ("jobs:submit", "jobs:submit"),
    (CONTROL, CONTROL),
    ("benchpod:control", CONTROL),
    ("emi:analyze", "emi:analyze"),
    (ADMIN, ADMIN),
    ("benchpod:admin", ADMIN),
];

/// Shape of a `scopes` member: at least one known scope, as spelled by the caller.
fn shape() -> impl Shape<Value = Vec<&'static str>> {
    list(choice(SCOPES), 1..=SCOPES.len())
}

/// Stored names, each once, in the caller's order.
fn distinct(scopes: Vec<&'static str>) -> Vec<String> {
    let mut stored: Vec<String> = Vec::new();
    for scope in scopes {
        if !stored.iter().any(|s| s == scope) {
            stored.push(scope.to_owned());
        }
    }
    stored
}

/// Read the member `scopes` that must be there.
pub(crate) fn required(body: &mut Fields) -> Vec<String> {
    distinct(body.required("scopes", shape()))
}

/// Read the member `scopes` that may be absent.
pub(crate) fn optional(body: &mut Fields) -> Option<Vec<String>> {
    body.optional("scopes", shape()).map(distinct)
}

#[cfg(test)]
mod tests {
    use guest::Fields;

    #[test]
    fn aliases_become_one_stored_name() {
        let mut body =
            Fields::parse(br#"{"scopes":["benchpod:control","jobs:submit","bench:control"]}"#)
                .unwrap();
        assert_eq!(super::required(&mut body), ["bench:control", "jobs:submit"]);
        assert!(body.finish().is_ok());
    }

    #[test]
    fn unknown_and_missing_scopes_are_told() {
        for (body, expected) in [
            (r#"{"scopes":[]}"#, "must have 1..=6 items"),
            (
                r#"{"scopes":["root"]}"#,
                "item 0 must be one of jobs:submit, ",
            ),
            (r#"{"scopes":"jobs:submit"}"#, "must be a list"),
            ("{}", "is required"),
        ] {
            let mut body = Fields::parse(body.as_bytes()).unwrap();
            super::required(&mut body);
            let error = body.finish().unwrap_err();
            assert_eq!(error.fields[0].field, "scopes");
            assert!(error.fields[0].message.starts_with(expected), "{error:?}");
        }
    }
}
