//! `POST /cloud/builds/{build}/artifacts`: a file of a build. Its bytes go from the connection to
//! disk without passing here.

use guest::{ApiError, Object, Request, Response, Route, builds, streamed, text};

use crate::build;

/// More than any configuration allows.
pub(crate) const BYTES_MAX: u32 = 2047 << 20;

/// Longest media type, in characters.
const TYPE_CHARS_MAX: usize = 127;

/// Media type of what is not said.
const UNKNOWN: &str = "application/octet-stream";

pub(crate) const ROUTE: Route = Route {
    name: "builds.artifacts.add",
    method: "POST",
    pattern: "/cloud/builds/{build}/artifacts",
    credentials: build::REPORT,
    scope: build::SCOPE,
    body_limit: streamed(BYTES_MAX),
    summary: "Add a file to a build",
    openapi: guest::compact_json!(include_str!("artifact_add.json")),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let (name, content_type) = parse(request)?;
    let id = build::id(request);
    let added = build::receive(id, builds::Kind::Artifact, &name, &content_type)?;
    Ok(reply(&added))
}

fn parse(request: &Request) -> Result<(String, String), ApiError> {
    let mut query = request.query()?;
    let name = build::file_name(&mut query);
    let given = query.optional("content_type", text(0..=TYPE_CHARS_MAX));
    query.finish()?;
    let given = given.as_deref().or(request.header("content-type"));
    Ok((name, media_type(given.unwrap_or_default()).to_owned()))
}

/// A media type that can stand in a header, without its parameters.
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

pub(crate) fn reply(added: &builds::Artifact) -> Response {
    let mut body = Object::new();
    body.field("build_id", &added.build.id)
        .field("name", &added.name)
        .field("size_bytes", &added.size_bytes)
        .field("sha256", &added.sha256);
    body.reply(201)
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
