//! `GET /auth/session`: whom the credential stands for, and what it may do.

use guest::{ApiError, Credential, Openapi, Request, Response, Role, Route, Time, sessions, words};
use schemars::JsonSchema;
use serde::Serialize;

use crate::device::{self, Device};
use crate::session;
use crate::user::ROLES;

/// Everybody may ask about themselves.
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
    openapi: Openapi::of(|operation| {
        operation.reply(
            200,
            "Who the credential stands for and what it may do.",
            &Record::from(&example()),
        );
    }),
    handle,
};

words! {
    const KINDS: Credential = {
        ApiKey = "api_key",
        UserSession = "user_session",
        CloudSession = "cloud_session",
    };
}

/// Who asks.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Identity")]
struct Record<'a> {
    #[schemars(extend("enum" = KINDS.all()))]
    credential: &'static str,
    user: &'a str,
    login: &'a str,
    #[schemars(extend("enum" = ROLES.all()))]
    role: &'static str,
    org: &'a str,
    org_name: &'a str,
    /// Key that it is, or was made from.
    kid: Option<&'a str>,
    /// Empty for signed-in people, who are bound by their role.
    scopes: &'a [String],
    /// Devices it is restricted to; null = all of the organisation.
    devices: Option<Vec<Device<'a>>>,
    /// null for API keys.
    #[schemars(with = "Option<Time>")]
    expires_at: Option<&'a str>,
}

impl<'a> From<&'a sessions::Identity> for Record<'a> {
    fn from(found: &'a sessions::Identity) -> Self {
        Self {
            credential: KINDS.word(found.credential),
            user: &found.user,
            login: &found.login,
            role: ROLES.word(found.role),
            org: &found.org,
            org_name: &found.org_name,
            kid: found.kid.as_deref(),
            scopes: &found.scopes,
            devices: found.devices.as_deref().map(device::records),
            expires_at: found.expires_at.as_deref(),
        }
    }
}

/// The identity of a session token, for the documentation.
fn example() -> sessions::Identity {
    sessions::Identity {
        credential: Credential::CloudSession,
        user: "01JGZ5V9T3N8W2K4Q7R6D1M0XB".into(),
        login: "ada".into(),
        role: Role::Member,
        org: "01JGZ5V9T3N8W2K4Q7R6D1M0XC".into(),
        org_name: "default".into(),
        kid: Some("k3J9xQ2mVbN0".into()),
        scopes: vec!["bench:control".into()],
        devices: Some(device::example()),
        expires_at: Some("2026-01-02T04:04:05Z".into()),
    }
}

fn handle(_: &Request) -> Result<Response, ApiError> {
    let found = sessions::current().map_err(session::refusal)?;
    Ok(reply(&found))
}

fn reply(found: &sessions::Identity) -> Response {
    Response::json(200, &Record::from(found))
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
