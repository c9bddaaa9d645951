//! `POST /emi/projects/{id}/runs`: ask for an analysis of a board.

use guest::emi::{self, Kind};
use guest::{ApiError, Openapi, Refusal, Request, Response, Route, id, members, object};
use serde_json::{Map, Value, json};

use crate::run::{KINDS, Record};
use crate::{access, example, project, refusal};

pub(crate) const ROUTE: Route = Route {
    name: "emi.run_create",
    method: "POST",
    pattern: "/emi/projects/{id}/runs",
    credentials: access::CREDENTIALS,
    scope: access::SCOPE,
    body_limit: 64 << 10,
    summary: "Analyse a board",
    openapi: Openapi::of(|operation| {
        operation
            .description("`GET /emi/features` tells which kinds of runs the server offers.")
            .path(project::ID.0, project::ID.1)
            .refusals(&[
                Refusal::NotOffered,
                Refusal::QuotaExceeded,
                Refusal::TooManyRuns,
                Refusal::Stopping,
            ])
            .body::<Body>(json!({
                "board_id": example::BOARD,
                "kind": "ingest",
                "params": {"clocks": [{"net": "SCK", "hz": 25e6, "rise_s": 1e-9}]}
            }))
            .reply(
                201,
                "The run, which waits for its turn.",
                &Record::example(&example::queued()),
            );
    }),
    handle,
};

members! {
    #[derive(Debug)]
    struct Body {
        /// A board of the project.
        board_id: String = required(id()),
        kind: Kind = required(KINDS.shape()),
        /// What is known of the board beyond its files, or asked beyond the defaults, with the keys of `emi.rules.yaml`. It
        /// comes before what the board's own rules file says.
        params: Option<Map<String, Value>> = optional(object()),
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = project::id(request);
    let body = parse(request)?;
    let params = Value::Object(body.params.unwrap_or_default()).to_string();
    let made =
        emi::create_run(id, &body.board_id, body.kind, &params).map_err(|error| match error {
            // The board may be the one that is not there.
            emi::Error::NotFound => ApiError::not_found("project or board", id),
            other => refusal::of(other, "project", id),
        })?;
    Ok(Response::json(201, &Record::of(&made)?))
}

fn parse(request: &Request) -> Result<Body, ApiError> {
    request.json()?.read()
}

#[cfg(test)]
mod tests {
    use guest::emi::Kind;
    use guest::testing::{mutations, request, request_example};

    use super::{ROUTE, parse};

    #[test]
    fn body() {
        let asked = parse(&request(r#"{"board_id":"b","kind":"cable"}"#)).unwrap();
        assert_eq!((asked.kind, asked.params), (Kind::Cable, None));
        for (body, field) in [
            (r#"{"board_id":"b"}"#, "kind"),
            (r#"{"board_id":"b","kind":"magic"}"#, "kind"),
            (r#"{"kind":"ingest"}"#, "board_id"),
            (r#"{"board_id":"b","kind":"ingest","params":[]}"#, "params"),
        ] {
            let error = parse(&request(body)).unwrap_err();
            assert_eq!((error.status, error.fields[0].field.as_str()), (400, field));
        }
    }

    #[test]
    fn mutations_of_the_example_never_panic() {
        mutations(0xE4, &request_example(&ROUTE), 5000, |body| {
            let mut request = request("");
            request.body = body.to_vec();
            let _ = parse(&request);
        });
    }
}
