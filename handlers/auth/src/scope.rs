//! Scopes that a key may carry.

use guest::{Shape, choice, list};
use schemars::Schema;
use serde_json::{Value, json};

/// Manage keys and everything that otherwise needs a role.
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

struct Scopes;

/// At least one scope, as spelled by the caller; read as stored names, each once, in the caller's order.
pub(crate) fn shape() -> impl Shape<Value = Vec<String>> {
    Scopes
}

impl Scopes {
    fn spelled() -> impl Shape<Value = Vec<&'static str>> {
        list(choice(SCOPES), 1..=SCOPES.len())
    }
}

impl Shape for Scopes {
    type Value = Vec<String>;

    fn read(&self, value: &Value) -> Result<Vec<String>, String> {
        let mut stored: Vec<String> = Vec::new();
        for scope in Self::spelled().read(value)? {
            if !stored.iter().any(|s| s == scope) {
                stored.push(scope.to_owned());
            }
        }
        Ok(stored)
    }

    fn schema(&self) -> Schema {
        Self::spelled().schema()
    }
}

/// A stored scope, as JSON Schema.
pub(crate) fn stored() -> Value {
    let names = SCOPES.iter().filter(|(spelled, stored)| spelled == stored);
    let names: Vec<&str> = names.map(|&(_, stored)| stored).collect();
    json!({"type": "string", "enum": names})
}

#[cfg(test)]
mod tests {
    use guest::{ApiError, Fields, members};

    members! {
        #[derive(Debug)]
        struct Body {
            scopes: Vec<String> = required(super::shape()),
        }
    }

    fn read(body: &[u8]) -> Result<Body, ApiError> {
        Fields::parse(body)?.read()
    }

    #[test]
    fn aliases_become_one_stored_name() {
        let body = read(br#"{"scopes":["benchpod:control","jobs:submit","bench:control"]}"#);
        assert_eq!(body.unwrap().scopes, ["bench:control", "jobs:submit"]);
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
            let error = read(body.as_bytes()).unwrap_err();
            assert_eq!(error.fields[0].field, "scopes");
            assert!(error.fields[0].message.starts_with(expected), "{error:?}");
        }
    }
}
