//! `PATCH /keys/{kid}`: give a key another name or other scopes.

use guest::{ApiError, Openapi, Request, Response, Route, keys, members};
use serde_json::json;

use crate::key::Key;
use crate::{key, scope};

pub(crate) const ROUTE: Route = Route {
    name: "keys.update",
    method: "PATCH",
    pattern: "/keys/{kid}",
    credentials: key::CREDENTIALS,
    scope: Some(scope::ADMIN),
    body_limit: 4 << 10,
    summary: "Rename an API key or change its scopes",
    openapi: Openapi::of(|operation| {
        key::describe_kid(operation);
        operation
            .body::<Edit>(json!({"name": "ci-nightly", "scopes": ["bench:control"]}))
            .reply(200, "The changed key.", &Key::of(&key::example()));
    }),
    handle,
};

members! {
    #[derive(Debug, PartialEq)]
    struct Edit {
        name: Option<String> = optional(key::name()),
        /// Replaces all scopes.
        scopes: Option<Vec<String>> = optional(scope::shape()),
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let edit = parse(request)?;
    let kid = key::kid(request);
    let changed = keys::update(kid, edit.name.as_deref(), edit.scopes.as_deref())
        .map_err(|error| key::refusal(error, kid))?;
    Ok(Response::json(200, &Key::of(&changed)))
}

fn parse(request: &Request) -> Result<Edit, ApiError> {
    let edit: Edit = request.json()?.read()?;
    if edit.name.is_none() && edit.scopes.is_none() {
        return Err(ApiError::invalid("give name, scopes or both"));
    }
    Ok(edit)
}

#[cfg(test)]
mod tests {
    use guest::testing::request;

    use super::{Edit, parse};

    #[test]
    fn something_must_change() {
        assert_eq!(
            parse(&request(r#"{"scopes":["emi:analyze"]}"#)).unwrap(),
            Edit {
                name: None,
                scopes: Some(vec!["emi:analyze".into()])
            }
        );
        assert_eq!(
            parse(&request(r#"{"name":"b"}"#)).unwrap().name.as_deref(),
            Some("b")
        );
        for body in [
            "",
            "{}",
            r#"{"name":null}"#,
            r#"{"scopes":[]}"#,
            r#"{"name":""}"#,
        ] {
            assert_eq!(parse(&request(body)).unwrap_err().status, 400, "{body}");
        }
    }
}
