//! `POST /emi/projects/{id}/uploads`: where the bytes of a board go, if they are not there already.

use guest::emi::{self, Begun, NewUpload};
use guest::{
    ApiError, Like, Openapi, Refusal, Request, Response, Route, alike, integer, members, spelled,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::Digest;
use crate::{access, example, project, refusal};

/// Longest name of a file, in characters.
const FILENAME_CHARS_MAX: usize = 200;

/// Longest media type, in characters.
const TYPE_CHARS_MAX: usize = 100;

/// Largest length that is taken as one, 2^53 - 1; how many bytes a board may have is the server's to say.
const SIZE_MAX: u64 = (1 << 53) - 1;

pub(crate) const ROUTE: Route = Route {
    name: "emi.upload_begin",
    method: "POST",
    pattern: "/emi/projects/{id}/uploads",
    credentials: access::CREDENTIALS,
    scope: access::SCOPE,
    body_limit: 4 << 10,
    summary: "Ask where to send a board",
    openapi: Openapi::of(|operation| {
        let begun = Begun {
            key: "5T8cYdR1uZpL7wHfA6eGnX5T8cYdR1uZ".into(),
            content_type: "application/octet-stream".into(),
            expires_in_s: 900,
            url: Some(
                "https://bench.example/api/emi/uploads/5T8cYdR1uZpL7wHfA6eGnX5T8cYdR1uZ?expires=1767323945&signature=Cg"
                    .into(),
            ),
        };
        operation
            .description(
                "`upload_url` takes the bytes by PUT for a quarter of an hour, without a credential: whoever has it may \
                 send this one file. With a `sha256` that the organisation has sent before, there is nothing to send.",
            )
            .path(project::ID.0, project::ID.1)
            .refusals(&[Refusal::QuotaExceeded])
            .body::<Body>(json!({
                "filename": "sensor.kicad_pcb",
                "sha256": example::SHA256,
                "content_type": "application/octet-stream",
                "size_bytes": 84_213
            }))
            .reply(200, "The key of the bytes, and where they go.", &Record::from(&begun));
    }),
    handle,
};

members! {
    #[derive(Debug)]
    struct Body {
        /// Name of the file, without folders.
        filename: String = required(alike(1..=FILENAME_CHARS_MAX, &FILENAME)),
        /// SHA-256 of its bytes, in hexadecimal. With it nothing is sent twice, and what arrives is compared.
        sha256: Option<String> = optional(Digest),
        /// Media type; it is told again, and decides nothing.
        content_type: Option<String> = optional(spelled(1..=TYPE_CHARS_MAX, " -~")),
        /// How many bytes there will be. One that is too large is refused at once.
        size_bytes: Option<u64> = optional(integer(0..=SIZE_MAX)),
    }
}

/// A name as it is, without a way to other folders, and not of white space alone.
static FILENAME: Like = Like {
    pattern: r"^[^/\\\u0000-\u001f\u007f-\u009f]*[^/\\\s\u0000-\u001f\u007f-\u009f][^/\\\u0000-\u001f\u007f-\u009f]*$",
    fits: |text| !text.contains(['/', '\\']) && !text.trim().is_empty(),
    rule: "must be a name without folders",
    example: "sensor.kicad_pcb",
};

/// Where the bytes of a board go.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Upload")]
struct Record<'a> {
    /// What they are called when a board is made of them.
    key: &'a str,
    /// The organisation has sent these bytes before; there is no `upload_url`.
    already_uploaded: bool,
    /// Absolute. It is good for this one file; keep it to yourself.
    #[serde(skip_serializing_if = "Option::is_none")]
    upload_url: Option<&'a str>,
    method: &'static str,
    content_type: &'a str,
    /// Seconds for which the `upload_url` is good.
    expires_in: u32,
}

impl<'a> From<&'a Begun> for Record<'a> {
    fn from(begun: &'a Begun) -> Self {
        Self {
            key: &begun.key,
            already_uploaded: begun.url.is_none(),
            upload_url: begun.url.as_deref(),
            method: "PUT",
            content_type: &begun.content_type,
            expires_in: begun.expires_in_s,
        }
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = project::id(request);
    let new = parse(request)?;
    let begun = emi::begin_upload(id, &new).map_err(|error| refusal::of(error, "project", id))?;
    Ok(Response::json(200, &Record::from(&begun)))
}

fn parse(request: &Request) -> Result<NewUpload, ApiError> {
    let body: Body = request.json()?.read()?;
    Ok(NewUpload {
        filename: body.filename,
        sha256: body.sha256,
        content_type: body.content_type,
        size_bytes: body.size_bytes,
    })
}

#[cfg(test)]
mod tests {
    use guest::emi::Begun;
    use guest::testing::{mutations, request, request_example};
    use serde_json::json;

    use super::{ROUTE, Record, parse};
    use crate::example;

    #[test]
    fn body() {
        let asked = parse(&request(r#"{"filename":"a b.zip"}"#)).unwrap();
        assert_eq!(
            (asked.filename.as_str(), asked.sha256, asked.size_bytes),
            ("a b.zip", None, None)
        );
        let loud = example::SHA256.to_uppercase();
        let asked = parse(&request(&format!(
            r#"{{"filename":"a","sha256":"{loud}","size_bytes":7}}"#
        )));
        let asked = asked.unwrap();
        assert_eq!(asked.sha256.as_deref(), Some(example::SHA256));
        assert_eq!(asked.size_bytes, Some(7));
        for (body, field) in [
            ("{}", "filename"),
            (r#"{"filename":"a/b"}"#, "filename"),
            (r#"{"filename":"a\\b"}"#, "filename"),
            (r#"{"filename":"a","sha256":"ab"}"#, "sha256"),
            (r#"{"filename":"a","sha256":7}"#, "sha256"),
            (r#"{"filename":"a","size_bytes":-1}"#, "size_bytes"),
            (r#"{"filename":"a","content_type":""}"#, "content_type"),
        ] {
            let error = parse(&request(body)).unwrap_err();
            assert_eq!((error.status, error.fields[0].field.as_str()), (400, field));
        }
    }

    #[test]
    fn there_is_an_address_only_where_something_is_to_be_sent() {
        let mut begun = Begun {
            key: "k".into(),
            content_type: "application/zip".into(),
            expires_in_s: 900,
            url: Some("http://x/y".into()),
        };
        let first = json!({
            "key": "k", "already_uploaded": false, "upload_url": "http://x/y", "method": "PUT",
            "content_type": "application/zip", "expires_in": 900
        });
        assert_eq!(json!(Record::from(&begun)), first);
        begun.url = None;
        let again = json!(Record::from(&begun));
        assert_eq!(again["already_uploaded"], true);
        assert!(again.get("upload_url").is_none());
    }

    #[test]
    fn mutations_of_the_example_never_panic() {
        mutations(0xE2, &request_example(&ROUTE), 5000, |body| {
            let mut request = request("");
            request.body = body.to_vec();
            let _ = parse(&request);
        });
    }
}
