//! `PATCH /keys/{kid}`: another name or other scopes.

use guest::{ApiError, Object, Request, Response, Route, keys, text};

use crate::{key, scope};

pub(crate) const ROUTE: Route = Route {
    name: "keys.update",
    method: "PATCH",
    pattern: "/keys/{kid}",
    credentials: key::CREDENTIALS,
    scope: Some(scope::ADMIN),
    body_limit: 4 << 10,
    summary: "Rename an API key or change its scopes",
    openapi: guest::compact_json!(include_str!("key_edit.json")),
    handle,
};

#[derive(Debug, PartialEq)]
struct Edit {
    name: Option<String>,
    scopes: Option<Vec<String>>,
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let edit = parse(request)?;
    let kid = key::kid(request);
    let changed = keys::update(kid, edit.name.as_deref(), edit.scopes.as_deref())
        .map_err(|error| key::refusal(error, kid))?;
    let mut body = Object::new();
    key::record(&changed, &mut body);
    Ok(body.reply(200))
}

fn parse(request: &Request) -> Result<Edit, ApiError> {
    let mut body = request.json()?;
    let edit = Edit {
        name: body.optional("name", text(1..=key::NAME_CHARS_MAX)),
        scopes: scope::optional(&mut body),
    };
    body.finish()?;
    if edit
        == (Edit {
            name: None,
            scopes: None,
        })
    {
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
