//! `DELETE /auth/session`: sign out, with every session token made from the sign-in; or end a
//! session token before its time.

use guest::{ApiError, Credential, Openapi, Request, Response, Route, sessions};

use crate::session;

pub(crate) const ROUTE: Route = Route {
    name: "auth.session.end",
    method: "DELETE",
    pattern: "/auth/session",
    credentials: &[Credential::UserSession, Credential::CloudSession],
    scope: None,
    body_limit: 0,
    summary: "Sign out, or end a session token",
    openapi: Openapi::of(|operation| {
        operation.reply_empty(204, "The session is over, and so is what was made from it.");
    }),
    handle,
};

fn handle(_: &Request) -> Result<Response, ApiError> {
    sessions::end().map_err(session::refusal)?;
    let mut response = Response::no_content();
    let cookie = session::no_cookie();
    response.headers.push(("set-cookie".to_owned(), cookie));
    Ok(response)
}
