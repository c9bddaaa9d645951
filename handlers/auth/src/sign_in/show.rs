//! `GET /auth/sign-in`, which is `/sign-in` for people: the page on which they sign in.

use guest::{ApiError, Openapi, Request, Response, Route, members, text};
use serde_json::json;

use super::{TO_CHARS_MAX, back, form};

pub(crate) const ROUTE: Route = Route {
    name: "auth.sign_in",
    method: "GET",
    pattern: "/auth/sign-in",
    credentials: &[],
    scope: None,
    body_limit: 0,
    summary: "The page on which people sign in",
    openapi: Openapi::of(|operation| {
        operation
            .description(
                "For browsers, at `/sign-in`, too. A link to anything that a session opens leads here if a browser follows it \
                 without one, and from here back to it.",
            )
            .query::<Asked>()
            .reply_content(
                200,
                "Forms for a password and for a one-time code. It runs no script.",
                "text/html",
                json!({"type": "string", "contentMediaType": "text/html"}),
                json!("<!doctype html>\n<title>Sign in</title>\n"),
            );
    }),
    handle,
};

members! {
    struct Asked {
        /// Where to go then: a path of this server, with its query. Anything else leads to its first page.
        to: Option<String> = optional(text(1..=TO_CHARS_MAX)),
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let asked: Asked = request.query()?.read()?;
    let to = asked.to.as_deref().map(|to| back(Some(to)));
    Ok(form(200, None, to))
}

#[cfg(test)]
mod tests {
    use guest::testing::{bytes, get};

    use super::handle;

    fn shown(query: &str) -> String {
        let answer = handle(&get(&[], query)).unwrap();
        String::from_utf8(bytes(&answer).to_vec()).unwrap()
    }

    #[test]
    fn it_keeps_where_to_go_if_that_is_here() {
        assert!(shown("to=/api/jobs/x/report%3Fa=1").contains("value=\"/api/jobs/x/report?a=1\""));
        let elsewhere = shown("to=//evil.example");
        assert!(elsewhere.contains("value=\"/\"") && !elsewhere.contains("evil"));
        assert!(!shown("").contains("name=\"to\""));
        assert!(handle(&get(&[], "to=")).is_err());
        assert!(handle(&get(&[], "from=/")).is_err());
    }
}
