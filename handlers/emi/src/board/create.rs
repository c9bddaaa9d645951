//! `POST /emi/projects/{id}/boards`: a board is made of what was uploaded, and its first run is queued.

use guest::{ApiError, Openapi, Refusal, Request, Response, Route, emi, id, members};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::upload::Digest;
use crate::{access, board, example, project, refusal, run};

pub(crate) const ROUTE: Route = Route {
    name: "emi.board_create",
    method: "POST",
    pattern: "/emi/projects/{id}/boards",
    credentials: access::CREDENTIALS,
    scope: access::SCOPE,
    body_limit: 4 << 10,
    summary: "Make a board of an upload, and analyse it",
    openapi: Openapi::of(|operation| {
        let (board, run) = (example::unread(), example::queued());
        let made = Made {
            board: board::Record::example(&board),
            run: run::Record::example(&run),
        };
        operation
            .path(project::ID.0, project::ID.1)
            .refusals(&[
                Refusal::NotReceived,
                Refusal::WrongDigest,
                Refusal::QuotaExceeded,
                Refusal::TooManyRuns,
                Refusal::Stopping,
            ])
            .body::<Body>(json!({"input_key": "5T8cYdR1uZpL7wHfA6eGnX5T8cYdR1uZ"}))
            .reply(201, "The board, and the run that reads it.", &made);
    }),
    handle,
};

members! {
    #[derive(Debug)]
    struct Body {
        /// `key` of the upload.
        input_key: String = required(id()),
        /// What its SHA-256 must be.
        sha256: Option<String> = optional(Digest),
    }
}

/// A board that was made.
#[derive(Serialize, JsonSchema)]
struct Made<'a> {
    board: board::Record<'a>,
    run: run::Record<'a>,
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = project::id(request);
    let body = parse(request)?;
    let (board, run) = emi::create_board(id, &body.input_key, body.sha256.as_deref())
        .map_err(|error| refusal::of(error, "project", id))?;
    let made = Made {
        board: board::Record::of(&board)?,
        run: run::Record::of(&run)?,
    };
    Ok(Response::json(201, &made))
}

fn parse(request: &Request) -> Result<Body, ApiError> {
    request.json()?.read()
}

#[cfg(test)]
mod tests {
    use guest::testing::{mutations, request, request_example};

    use super::{ROUTE, parse};

    #[test]
    fn body() {
        assert!(
            parse(&request(r#"{"input_key":"k"}"#))
                .unwrap()
                .sha256
                .is_none()
        );
        for (body, field) in [
            ("{}", "input_key"),
            (r#"{"input_key":""}"#, "input_key"),
            (r#"{"input_key":"k","sha256":"x"}"#, "sha256"),
            (r#"{"input_key":"k","name":"x"}"#, "name"),
        ] {
            let error = parse(&request(body)).unwrap_err();
            assert_eq!((error.status, error.fields[0].field.as_str()), (400, field));
        }
    }

    #[test]
    fn mutations_of_the_example_never_panic() {
        mutations(0xE3, &request_example(&ROUTE), 5000, |body| {
            let mut request = request("");
            request.body = body.to_vec();
            let _ = parse(&request);
        });
    }
}
