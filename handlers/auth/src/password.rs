//! `PUT /auth/password`: change one's own password.

use guest::{ApiError, Credential, Openapi, Refusal, Request, Response, Route, members, sessions};
use serde_json::json;

use crate::session;

pub(crate) const ROUTE: Route = Route {
    name: "auth.password",
    method: "PUT",
    pattern: "/auth/password",
    credentials: &[Credential::UserSession],
    scope: None,
    body_limit: 4 << 10,
    summary: "Set your own password",
    openapi: Openapi::of(|operation| {
        operation
            .refusals(&[Refusal::InvalidCredential])
            .body::<Ask>(json!({
                "old": "correct horse battery staple",
                "new": "another horse battery staple"
            }))
            .reply(
                200,
                "A new session; all others of the user have ended. The header `set-cookie` carries it \
                 for browsers.",
                &session::Record::from(&session::example()),
            );
    }),
    handle,
};

members! {
    struct Ask {
        /// The present password; needed when there is one.
        old: Option<String> = optional(session::password()),
        /// Refused when it is shorter than 10 characters.
        new: String = required(session::password()),
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let (old, new) = parse(request)?;
    sessions::change_password(old.as_deref(), &new)
        .map(|session| session::reply(&session))
        .map_err(refusal)
}

fn parse(request: &Request) -> Result<(Option<String>, String), ApiError> {
    let ask: Ask = request.json()?.read()?;
    Ok((ask.old, ask.new))
}

/// A wrong password does not make the credential invalid: the session goes on.
fn refusal(error: sessions::Error) -> ApiError {
    match error {
        sessions::Error::Rejected => ApiError::field("old", "must be your present password"),
        other => session::refusal(other),
    }
}

#[cfg(test)]
mod tests {
    use guest::sessions::Error;
    use guest::testing::{mutations, request};

    use super::{parse, refusal};

    #[test]
    fn the_new_one_is_needed() {
        let (old, new) = parse(&request(r#"{"new":"n"}"#)).unwrap();
        assert_eq!((old, new.as_str()), (None, "n"));
        for body in ["", "{}", r#"{"old":"o"}"#, r#"{"old":"o","new":""}"#] {
            assert_eq!(parse(&request(body)).unwrap_err().status, 400, "{body}");
        }
        assert_eq!(refusal(Error::Rejected).status, 400);
        assert_eq!(refusal(Error::SlowDown(3)).status, 429);
    }

    #[test]
    fn mutated_bodies_never_echo_a_password() {
        let valid = br#"{"old":"hunter2hunter2","new":"hunter3hunter3"}"#;
        mutations(0x9A55, valid, 2000, |body| {
            let mut request = request("");
            request.body = body.to_vec();
            if let Err(error) = parse(&request) {
                assert!(!error.message.contains("hunter2hunter2"));
            }
        });
    }
}
