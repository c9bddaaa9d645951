//! `PUT /emi/uploads/{key}`: the bytes of a board, from whoever was given the address. They go from the connection to
//! disk without passing through here.

use guest::emi::{self, Received, Signed};
use guest::{ApiError, Openapi, Refusal, Request, Response, Route, form, streamed, uploads};
use schemars::{JsonSchema, json_schema};
use serde::Serialize;
use serde_json::json;

use crate::access::Shown;
use crate::{example, refusal};

/// Largest body; the server's settings and the organisation's quota may leave less.
const BYTES_MAX: u32 = 1 << 30;

/// Whatever is sent, the bytes say what it is.
const TYPE: &str = "application/octet-stream";

pub(crate) const ROUTE: Route = Route {
    name: "emi.upload",
    method: "PUT",
    pattern: "/emi/uploads/{key}",
    credentials: &[],
    scope: None,
    body_limit: streamed(BYTES_MAX),
    summary: "Send a board",
    openapi: Openapi::of(|operation| {
        let received = Received {
            sha256: example::SHA256.into(),
            size_bytes: 84_213,
        };
        operation
            .description("The `upload_url` that was given for it, which is all that it needs.")
            .path("key", "Of the upload.")
            .refusals(&[
                Refusal::LinkRefused,
                Refusal::WrongDigest,
                Refusal::QuotaExceeded,
            ])
            .query::<Shown>()
            .content(
                TYPE,
                json_schema!({"type": "string", "contentMediaType": TYPE}),
                json!("(kicad_pcb (version 20240108))"),
            )
            .reply(
                200,
                "It has arrived.",
                &Record::of("5T8cYdR1uZpL7wHfA6eGnX5T8cYdR1uZ", &received),
            );
    }),
    handle,
};

/// Bytes that have arrived.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Received")]
struct Record<'a> {
    key: &'a str,
    /// Lower-case hexadecimal.
    sha256: &'a str,
    size_bytes: u64,
}

impl<'a> Record<'a> {
    fn of(key: &'a str, received: &'a Received) -> Self {
        Self {
            key,
            sha256: &received.sha256,
            size_bytes: received.size_bytes,
        }
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let key = request.param(0);
    let signed: Signed = request.query()?.read::<Shown>()?.into();
    let refuse = |error| refusal::of(error, "upload", key);
    // Nothing is received from those who may not. When it has come, this is asked again.
    let room = emi::admit(key, &signed).map_err(refuse)?;
    let bytes = uploads::receive(room).map_err(form::refusal)?;
    let received = emi::keep(key, &signed, bytes).map_err(refuse)?;
    Ok(Response::json(200, &Record::of(key, &received)))
}

#[cfg(test)]
mod tests {
    use guest::testing::get;

    use crate::access::Shown;

    #[test]
    fn both_halves_of_the_proof_are_needed() {
        let read = |query: &str| get(&["k"], query).query().unwrap().read::<Shown>();
        assert!(read("expires=1767323945&signature=Cg-_").is_ok());
        for (query, field) in [
            ("signature=Cg", "expires"),
            ("expires=1", "signature"),
            ("expires=-1&signature=Cg", "expires"),
            ("expires=1&signature=", "signature"),
            ("expires=1&signature=a%20b", "signature"),
            ("expires=1&signature=a&token=b", "token"),
        ] {
            let error = read(query).unwrap_err();
            assert_eq!(
                (error.status, error.fields[0].field.as_str()),
                (400, field),
                "{query}"
            );
        }
    }
}
