//! `GET /badges/{id}/badge.svg`: the picture, for whoever knows the id.

use guest::badges::{self, Shown, Word};
use guest::{ApiError, Body, Openapi, Request, Response, Route};
use serde_json::json;

use crate::badge::{self, WORDS};
use crate::svg;

/// Media type of the picture.
const TYPE: &str = "image/svg+xml";

/// How long caches may show it without asking. Short, since it changes when a job ends.
const CACHE: &str = "public, max-age=60";

/// What a browser may do with it that opens it as a page: nothing.
const POLICY: &str = "default-src 'none'; sandbox";

/// Rises when the same word is drawn in another way.
const DRAWING: u32 = 1;

pub(crate) const ROUTE: Route = Route {
    name: "badges.image",
    method: "GET",
    pattern: "/badges/{id}/badge.svg",
    credentials: &[],
    scope: None,
    body_limit: 0,
    summary: "The picture of a badge",
    openapi: Openapi::of(|operation| {
        let example = svg::draw("bench", "passing", svg::colour(Word::Passing));
        badge::describe_id(operation);
        operation
            .header("if-none-match", "`ETag` of the picture that the client has.")
            .reply_content(
                200,
                "An SVG that needs nothing else. It says the label and unknown, running, passing, failing or infrastructure.",
                TYPE,
                json!({"type": "string", "contentMediaType": TYPE}),
                json!(example),
            )
            .reply_empty(304, "The client has it already.");
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = badge::id(request);
    let shown = badges::look(id).map_err(|error| badge::refusal(error, id))?;
    Ok(answer(&shown, request))
}

fn answer(shown: &Shown, request: &Request) -> Response {
    let word = WORDS.word(shown.word);
    // A badge's label never changes.
    let tag = format!("\"{DRAWING}-{word}\"");
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let mut headers = vec![header("etag", &tag), header("cache-control", CACHE)];
    if request.knows(&tag) {
        return Response {
            status: 304,
            headers,
            body: Body::Empty,
        };
    }
    headers.push(header("content-type", TYPE));
    headers.push(header("content-security-policy", POLICY));
    headers.push(header("x-content-type-options", "nosniff"));
    let drawn = svg::draw(&shown.label, word, svg::colour(shown.word));
    Response {
        status: 200,
        headers,
        body: Body::Bytes(drawn.into_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use guest::badges::{Shown, Word};
    use guest::testing::{bytes, get, header};

    use super::answer;

    #[test]
    fn a_client_that_has_the_picture_is_told_so() {
        let shown = Shown {
            label: "a<b".into(),
            word: Word::Failing,
        };
        let mut request = get(&["x"], "");
        let first = answer(&shown, &request);
        assert_eq!(first.status, 200);
        assert_eq!(header(&first, "content-type"), Some("image/svg+xml"));
        assert!(String::from_utf8_lossy(bytes(&first)).contains("a&lt;b: failing"));
        let tag = header(&first, "etag").unwrap().to_owned();
        for known in [
            tag.clone(),
            format!("W/{tag}"),
            format!("\"x\", {tag}"),
            "*".into(),
        ] {
            request.headers = vec![("if-none-match".to_owned(), known)];
            let second = answer(&shown, &request);
            assert_eq!((second.status, bytes(&second).len()), (304, 0));
            assert_eq!(header(&second, "etag"), Some(&*tag));
        }
        let passes = Shown {
            word: Word::Passing,
            ..shown
        };
        request.headers = vec![("if-none-match".to_owned(), tag)];
        assert_eq!(answer(&passes, &request).status, 200);
    }
}
