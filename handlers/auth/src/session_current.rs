//! `GET /auth/session`: who the credential stands for, and what it may do.

use guest::{ApiError, Credential, Object, Request, Response, Route, sessions};

use crate::{session, user};

/// Everybody may ask about himself.
const CREDENTIALS: &[Credential] = &[
    Credential::ApiKey,
    Credential::UserSession,
    Credential::CloudSession,
];

pub(crate) const ROUTE: Route = Route {
    name: "auth.session.current",
    method: "GET",
    pattern: "/auth/session",
    credentials: CREDENTIALS,
    scope: None,
    body_limit: 0,
    summary: "Show what the credential stands for",
    openapi: guest::compact_json!(include_str!("session_current.json")),
    handle,
};

fn handle(_: &Request) -> Result<Response, ApiError> {
    let found = sessions::current().map_err(session::refusal)?;
    Ok(reply(&found))
}

fn reply(found: &sessions::Identity) -> Response {
    let credential = match found.credential {
        Credential::ApiKey => "api_key",
        Credential::UserSession => "user_session",
        Credential::CloudSession => "cloud_session",
    };
    let mut body = Object::new();
    body.field("credential", credential)
        .field("user", &found.user)
        .field("login", &found.login)
        .field("role", user::role_name(found.role))
        .field("org", &found.org)
        .field("org_name", &found.org_name)
        .field("kid", &found.kid)
        .field("scopes", &found.scopes);
    match &found.devices {
        Some(devices) => body.array("devices", devices, |(id, name), item| {
            item.field("id", id).field("name", name);
        }),
        None => body.raw("devices", "null"),
    };
    body.field("expires_at", &found.expires_at);
    body.reply(200)
}

#[cfg(test)]
mod tests {
    use guest::testing::json;
    use guest::{Credential, Role, sessions};
    use serde_json::json;

    #[test]
    fn a_restricted_session_shows_its_devices() {
        let mut found = sessions::Identity {
            credential: Credential::CloudSession,
            user: "u1".into(),
            login: "ada".into(),
            role: Role::Admin,
            org: "o1".into(),
            org_name: "default".into(),
            kid: None,
            scopes: vec!["bench:control".into()],
            devices: Some(vec![("d1".into(), "bench-1".into())]),
            expires_at: None,
        };
        let body = json(&super::reply(&found));
        assert_eq!(body["devices"], json!([{"id": "d1", "name": "bench-1"}]));
        assert_eq!(
            (&body["credential"], &body["role"]),
            (&json!("cloud_session"), &json!("admin"))
        );
        found.devices = None;
        assert!(json(&super::reply(&found))["devices"].is_null());
    }
}
