//! `POST /cloud/builds/{build}/artifacts`: a file of a build. Its bytes go from the connection to
//! disk without passing through here.

use guest::{
    ApiError, Openapi, Refusal, Request, Response, Route, builds, members, streamed, text,
};
use schemars::{JsonSchema, json_schema};
use serde::Serialize;
use serde_json::json;

use crate::build::Named;
use crate::{artifact, build};

/// More than any configuration allows.
pub(crate) const BYTES_MAX: u32 = 2047 << 20;

/// Longest media type, in characters.
const TYPE_CHARS_MAX: usize = 127;

/// Media type when none is given.
const UNKNOWN: &str = "application/octet-stream";

pub(crate) const ROUTE: Route = Route {
    name: "builds.artifacts.add",
    method: "POST",
    pattern: "/cloud/builds/{build}/artifacts",
    credentials: build::REPORT,
    scope: build::SCOPE,
    body_limit: streamed(BYTES_MAX),
    summary: "Add a file to a build",
    openapi: Openapi::of(|operation| {
        build::describe_id(operation);
        operation
            .refusals(&REFUSALS)
            .query::<Asked>()
            .content(
                UNKNOWN,
                json_schema!({"type": "string", "contentMediaType": UNKNOWN}),
                json!("abc"),
            )
            .reply(
                201,
                "Stored. The same file again changes nothing.",
                &Added::from(&artifact::example()),
            );
    }),
    handle,
};

/// Why a file is refused.
pub(crate) const REFUSALS: [Refusal; 3] = [
    Refusal::WrongState,
    Refusal::NameTaken,
    Refusal::QuotaExceeded,
];

members! {
    struct Asked {
        named: Named = inline(),
        /// Media type; that of the request when it is left out.
        content_type: Option<String> = optional(text(0..=TYPE_CHARS_MAX)),
    }
}

/// A file that was stored.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Added<'a> {
    build_id: &'a str,
    name: &'a str,
    size_bytes: u64,
    /// Lower-case hexadecimal.
    sha256: &'a str,
}

impl<'a> From<&'a builds::Artifact> for Added<'a> {
    fn from(added: &'a builds::Artifact) -> Self {
        Self {
            build_id: &added.build.id,
            name: &added.name,
            size_bytes: added.size_bytes,
            sha256: &added.sha256,
        }
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let (name, content_type) = parse(request)?;
    let id = build::id(request);
    let added = build::receive(id, builds::Kind::Artifact, &name, &content_type)?;
    Ok(Response::json(201, &Added::from(&added)))
}

fn parse(request: &Request) -> Result<(String, String), ApiError> {
    let asked: Asked = request.query()?.read()?;
    let given = asked.content_type.as_deref();
    let given = given.or(request.header("content-type"));
    let content_type = media_type(given.unwrap_or_default()).to_owned();
    Ok((asked.named.name, content_type))
}

/// A media type that is fit for a header, without its parameters.
fn media_type(given: &str) -> &str {
    let essence = given.split(';').next().unwrap_or_default().trim();
    let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&b);
    match essence.split_once('/') {
        Some((main, sub))
            if !main.is_empty()
                && !sub.is_empty()
                && essence.len() <= TYPE_CHARS_MAX
                && (main.bytes().chain(sub.bytes())).all(token) =>
        {
            essence
        }
        _ => UNKNOWN,
    }
}

#[cfg(test)]
mod tests {
    use guest::testing::request;

    use super::{media_type, parse};

    #[test]
    fn the_name_is_needed() {
        let mut request = request("");
        request.query = "name=fw.elf&content_type=text%2Fplain".into();
        let (name, content_type) = parse(&request).unwrap();
        assert_eq!(
            (name.as_str(), content_type.as_str()),
            ("fw.elf", "text/plain")
        );
        for query in ["", "name=", "name=a&name=b", "name=a&kind=b", "name=a%0Ab"] {
            request.query = query.into();
            assert_eq!(parse(&request).unwrap_err().status, 400, "{query}");
        }
    }

    #[test]
    fn media_types_are_plain() {
        assert_eq!(media_type("text/plain; charset=utf-8"), "text/plain");
        for odd in ["", "text", "/", "a/", "text/pl ain", "text/\"x", "a/b/c"] {
            assert_eq!(media_type(odd), "application/octet-stream", "{odd}");
        }
    }
}
