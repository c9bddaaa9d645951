//! `POST /auth/sign-out`, which is `/sign-out` for people: end the session of the browser.

use guest::{ApiError, Body, Credential, Openapi, Request, Response, Route, sessions};

use super::ADDRESS;
use crate::session;

pub(crate) const ROUTE: Route = Route {
    name: "auth.sign_out",
    method: "POST",
    pattern: "/auth/sign-out",
    credentials: &[Credential::UserSession],
    scope: None,
    body_limit: 0,
    summary: "Sign out by the form of a page",
    openapi: Openapi::of(|operation| {
        operation
            .description("Sent by pages; programs use `DELETE /auth/session`.")
            .reply_empty(
                303,
                "The session is over; `Location` is the page to sign in.",
            );
    }),
    handle,
};

fn handle(_: &Request) -> Result<Response, ApiError> {
    sessions::end().map_err(session::refusal)?;
    let header = |name: &str, value: String| (name.to_owned(), value);
    Ok(Response {
        status: 303,
        headers: vec![
            header("location", ADDRESS.to_owned()),
            header("set-cookie", session::no_cookie()),
            header("cache-control", "no-store".to_owned()),
        ],
        body: Body::Empty,
    })
}
