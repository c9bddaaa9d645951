//! The OpenAPI document's security: the kinds of credentials, and which of them a route takes.

use runtime::{Credentials, Route};
use serde_json::{Value, json};

/// `security` of an operation.
pub(super) fn of(route: &Route) -> Value {
    let scopes: Vec<&String> = route.scope.iter().collect();
    let kinds = [
        (Credentials::API_KEY, "apiKey"),
        (Credentials::USER_SESSION, "userSession"),
        (Credentials::CLOUD_SESSION, "cloudSession"),
    ];
    kinds
        .iter()
        .filter(|(bit, _)| route.credentials.contains(*bit))
        .map(|(_, name)| json!({*name: scopes}))
        .collect()
}

/// `components.securitySchemes`.
pub(super) fn schemes() -> Value {
    json!({
        "apiKey": {
            "type": "apiKey",
            "in": "header",
            "name": "Authorization",
            "description": "`Authorization: ApiKey <prefix>_<kid>_<secret>`. A WebSocket takes it as the query parameter `token`, too."
        },
        "userSession": {
            "type": "http",
            "scheme": "bearer",
            "description": "Session of a signed-in person, from `POST /api/auth/session`; the cookie `hostd_session` works as well."
        },
        "cloudSession": {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "JWT",
            "description": "Short-lived token from `POST /api/auth/token`. A WebSocket takes it as the query parameter `token`, too."
        }
    })
}
