//! `PUT /secrets/{name}`: write a secret, new or in place of another value.

use guest::secrets::Secret;
use guest::{
    ApiError, Openapi, Refusal, Request, Response, Route, Shape, like, list, members, secrets,
};
use schemars::{Schema, json_schema};
use serde_json::{Value, json};

use crate::secret::{self, Record};

/// Shortest value, in characters: a shorter one cannot be kept out of logs.
const VALUE_CHARS_MIN: usize = 8;

/// Longest value, in characters; the host allows as many bytes.
const VALUE_CHARS_MAX: usize = 64 << 10;

/// Patterns of one secret.
const REFS_MAX: usize = 16;

/// Longest pattern, in characters.
const REF_CHARS_MAX: usize = 255;

/// Bytes of a character that JSON escapes.
const ESCAPE_BYTES: usize = 6;

/// A value and patterns of which each byte is escaped, and what is around them.
#[allow(clippy::cast_possible_truncation, reason = "it is far below 4 GiB")]
const BODY_BYTES_MAX: u32 =
    (ESCAPE_BYTES * (VALUE_CHARS_MAX + REFS_MAX * REF_CHARS_MAX) + (4 << 10)) as u32;

const DESCRIPTION: &str = "\
    The value is stored encrypted, and no request reads it back. Jobs whose pipelines name the secret get it as a \
    variable of the step that does, from their next attempt on.";

pub(crate) const ROUTE: Route = Route {
    name: "secrets.put",
    method: "PUT",
    pattern: "/secrets/{name}",
    credentials: secret::CREDENTIALS,
    scope: secret::WRITE,
    body_limit: BODY_BYTES_MAX,
    summary: "Write a secret",
    openapi: Openapi::of(|operation| {
        secret::describe_name(operation);
        operation
            .description(DESCRIPTION)
            .refusals(&[
                Refusal::Forbidden,
                Refusal::QuotaExceeded,
                Refusal::SecretsUnavailable,
            ])
            .body::<Body>(json!({"value": "correct horse battery staple", "refs": ["main"]}))
            .reply(
                200,
                "Written in place of the value that it had.",
                &Record::from(&secret::example()),
            )
            .reply(
                201,
                "Written; there was none.",
                &Record::from(&secret::example()),
            );
    }),
    handle,
};

members! {
    struct Body {
        /// What the steps get: at most 64 KiB of text, at least 8 bytes beside white space at its ends.
        value: String = required(Lines),
        /// Patterns of the job's `ref`, with `*`, `**` and `?`, as `main` or `release/*`: a job whose `ref` fits none
        /// is refused. An empty list is for all jobs. Left out: a secret that is there keeps its own.
        refs: Option<Vec<String>> = optional(list(like::ref_pattern(1..=REF_CHARS_MAX), 0..=REFS_MAX)),
    }
}

/// Many lines, of which nothing may be told.
#[derive(Debug)]
struct Lines;

impl Shape for Lines {
    type Value = String;

    fn read(&self, value: &Value) -> Result<String, String> {
        let text = value.as_str().ok_or("must be a string")?;
        match text.chars().count() {
            VALUE_CHARS_MIN..=VALUE_CHARS_MAX => Ok(text.to_owned()),
            _ => Err(format!(
                "must have {VALUE_CHARS_MIN}..={VALUE_CHARS_MAX} characters"
            )),
        }
    }

    fn schema(&self) -> Schema {
        json_schema!({
            "type": "string",
            "minLength": VALUE_CHARS_MIN,
            "maxLength": VALUE_CHARS_MAX,
            "writeOnly": true,
        })
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let name = secret::name(request);
    let Body { value, refs } = parse(request)?;
    secrets::put(name, &value, refs.as_deref())
        .map(|(written, is_new)| reply(&written, is_new))
        .map_err(|error| secret::refusal(error, name))
}

fn parse(request: &Request) -> Result<Body, ApiError> {
    request.json()?.read()
}

fn reply(written: &Secret, is_new: bool) -> Response {
    let status = if is_new { 201 } else { 200 };
    Response::json(status, &Record::from(written))
}

#[cfg(test)]
mod tests {
    use guest::testing::{json, mutations, request, request_example};

    use super::{ESCAPE_BYTES, ROUTE, VALUE_CHARS_MAX, parse, reply};

    #[test]
    fn body() {
        let body = parse(&request(r#"{"value":"line one\nline two","refs":[]}"#)).ok();
        let body = body.unwrap();
        assert_eq!(body.value, "line one\nline two");
        assert_eq!(body.refs, Some(Vec::new()));
        let body = parse(&request(r#"{"value":"12345678"}"#)).ok().unwrap();
        assert_eq!(body.refs, None);
        for (body, field) in [
            ("{}", "value"),
            (r#"{"value":"1234567"}"#, "value"),
            (r#"{"value":12345678}"#, "value"),
            (r#"{"value":"12345678","refs":"main"}"#, "refs"),
            (r#"{"value":"12345678","refs":[""]}"#, "refs"),
            (r#"{"value":"12345678","name":"x"}"#, "name"),
        ] {
            let error = parse(&request(body)).err().unwrap();
            assert_eq!((error.status, error.fields[0].field.as_str()), (400, field));
            assert!(!error.message.contains("12345"), "{}", error.message);
        }
    }

    #[test]
    fn the_longest_value_fits_in_a_body_however_it_is_escaped() {
        let escaped = "\\u0001".repeat(VALUE_CHARS_MAX);
        let text = format!("{{\"value\":\"{escaped}\"}}");
        assert!(text.len() <= ROUTE.body_limit as usize);
        assert!(text.len() > ESCAPE_BYTES * VALUE_CHARS_MAX);
        assert!(parse(&request(&text)).is_ok());
        let text = format!("{{\"value\":\"x{escaped}\"}}");
        assert!(parse(&request(&text)).is_err());
    }

    #[test]
    fn the_answer_has_no_value() {
        for (is_new, status) in [(true, 201), (false, 200)] {
            let response = reply(&crate::secret::example(), is_new);
            assert_eq!(response.status, status);
            assert_eq!(json(&response)["name"], "CAL_TOKEN");
            assert!(json(&response).get("value").is_none());
        }
    }

    #[test]
    fn the_example_is_accepted_and_mutations_of_it_never_panic() {
        let example = request_example(&ROUTE);
        mutations(0xC0DE, &example, 5000, |body| {
            let mut request = request("");
            request.body = body.to_vec();
            if let Ok(body) = parse(&request) {
                assert!(body.value.chars().count() >= 8);
            }
        });
        let mut request = request("");
        request.body = example;
        assert!(parse(&request).is_ok());
    }
}
