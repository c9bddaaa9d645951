//! `POST /capture/{id}/link`: an address of a capture as a file, for programs that have no credential.

use guest::recordings::{self, Link};
use guest::{ApiError, Openapi, Refusal, Request, Response, Route, Time, members, session};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::export::{Asked, file_name, refusal};
use crate::linked::LINK_CHARS_MAX;
use crate::{capture, linked};

const DESCRIPTION: &str = "\
    The address opens this export of this capture and nothing else, without a credential and for pages of any origin: \
    `https://app.surfer-project.org/?load_url=` and the address, percent-encoded, shows it in Surfer. It ends with the \
    key, the session or the job that asked for it, and with the user; it cannot be taken back otherwise.";

pub(crate) const ROUTE: Route = Route {
    name: "captures.link",
    method: "POST",
    pattern: "/capture/{id}/link",
    credentials: capture::CREDENTIALS,
    scope: capture::SCOPE,
    body_limit: 16 << 10,
    summary: "An address of a capture as a file",
    openapi: Openapi::of(|operation| {
        let link = Link {
            base: "https://bench.example".into(),
            token: "eyJhbGciOiJFZERTQSJ9.e30.c2ln".into(),
            expires_at: "2026-01-02T04:04:05Z".into(),
        };
        operation
            .description(DESCRIPTION)
            .refusals(&[Refusal::NotCapable, Refusal::WrongState])
            .path(capture::ID.0, capture::ID.1)
            .body::<Body>(json!({"format": "vcd", "ttl_seconds": 600}))
            .reply(
                200,
                "Where the file is.",
                &Record::of(
                    &link,
                    "01JGZ5V9T3N8W2K4Q7R6D1M0XC",
                    "01JGZ5V9T3N8W2K4Q7R6D1M0XC.vcd",
                ),
            );
    }),
    handle,
};

members! {
    #[derive(Debug, PartialEq)]
    struct Body {
        file: Asked = inline(),
        /// For how long the address is good; less if the key or session that asks ends before.
        ttl_seconds: u32 = or(session::ttl_seconds(), session::TTL_SECONDS_DEFAULT),
    }
}

/// Where a capture is to be had as a file.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CaptureLink")]
struct Record<'a> {
    /// Absolute. Whoever has it may read the file, so keep it to yourself.
    url: String,
    #[schemars(with = "Time")]
    expires_at: &'a str,
}

impl<'a> Record<'a> {
    fn of(link: &'a Link, id: &str, name: &str) -> Self {
        Self {
            url: linked::address(&link.base, id, name, &link.token),
            expires_at: &link.expires_at,
        }
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let Body { file, ttl_seconds } = parse(request)?;
    let (id, format) = (capture::id(request), file.format);
    let link = recordings::make_link(id, format, &file.into(), ttl_seconds);
    let link = link.map_err(|error| refusal(error, id))?;
    if link.token.len() > LINK_CHARS_MAX {
        let rule = "must be shorter: an address has no room for all of them";
        return Err(ApiError::field("channels", rule));
    }
    let record = Record::of(&link, id, &file_name(id, format));
    Ok(Response::json(200, &record))
}

fn parse(request: &Request) -> Result<Body, ApiError> {
    request.json()?.read()
}

#[cfg(test)]
mod tests {
    use guest::recordings::{Format, Link};
    use guest::testing::request;
    use serde_json::json;

    use super::{Record, parse};

    #[test]
    fn what_an_export_takes_and_for_how_long() {
        let plain = parse(&request(r#"{"format":"vcd"}"#)).unwrap();
        assert_eq!((plain.file.format, plain.ttl_seconds), (Format::Vcd, 3600));
        let whole = r#"{"format":"csv","content":"logic","channels":"LA1,LA2","from":5,"to":9,"ttl_seconds":60}"#;
        assert_eq!(parse(&request(whole)).unwrap().ttl_seconds, 60);
        for (body, field) in [
            ("{}", "format"),
            (r#"{"format":"zip"}"#, "format"),
            (r#"{"format":"vcd","ttl_seconds":59}"#, "ttl_seconds"),
            (r#"{"format":"vcd","ttl_seconds":86401}"#, "ttl_seconds"),
            (r#"{"format":"vcd","to":0}"#, "to"),
            (r#"{"format":"vcd","channels":""}"#, "channels"),
            (r#"{"format":"vcd","public":true}"#, "public"),
        ] {
            let error = parse(&request(body)).unwrap_err();
            assert_eq!((error.status, error.fields[0].field.as_str()), (400, field));
        }
    }

    #[test]
    fn an_address_is_absolute() {
        let link = Link {
            base: "https://bench.example".into(),
            token: "a.b.c".into(),
            expires_at: "2026-01-02T04:04:05Z".into(),
        };
        assert_eq!(
            json!(Record::of(&link, "01X", "01X.sr")),
            json!({
                "url": "https://bench.example/api/capture/01X/file/01X.sr?link=a.b.c",
                "expires_at": "2026-01-02T04:04:05Z"
            })
        );
    }
}
