//! The routes of a `wasi:http/proxy` component: every path below the plugin's prefix, with what the manifest asks of callers.

use identity::scope::Scope;
use plugins::id::PluginId;
use plugins::manifest::Mount;
use runtime::{Credentials, Route};
use serde_json::json;

use crate::plugin::routes::RoutesError;

/// What the routes are called, in front of their methods.
const NAME: &str = "wasi-http";

/// One route for each method.
///
/// # Errors
/// There is no such scope.
pub(super) fn routes(id: &PluginId, mount: &Mount) -> Result<Vec<Route>, RoutesError> {
    let known = |scope: &str| Scope::parse(scope).is_some();
    if !mount.scope.as_deref().is_none_or(known) {
        let (name, rule) = (
            NAME.to_owned(),
            "the scope in [proxy] of its manifest is unknown",
        );
        return Err(RoutesError::Rule { name, rule });
    }
    let route = |method: &String| Route {
        name: format!("x.{id}.{NAME}.{}", method.to_lowercase()),
        method: method.clone(),
        pattern: format!("/x/{id}/{{path...}}"),
        credentials: match mount.public {
            true => Credentials::empty(),
            false => Credentials::all(),
        },
        scope: mount.scope.clone(),
        body_limit: match method.as_str() {
            "GET" | "DELETE" => 0,
            _ => mount.body_kib << 10,
        },
        streamed_body: false,
        summary: format!("Whatever the plugin {id} answers below its prefix"),
        openapi: described(method, mount),
    };
    Ok(mount.methods.iter().map(route).collect())
}

/// What the OpenAPI document says of a method.
fn described(method: &str, mount: &Mount) -> String {
    let any = json!({"*/*": {"schema": {"type": "string"}}});
    let mut operation = json!({
        "description": "The plugin is a `wasi:http/proxy` component, which does not describe its endpoints: this stands for \
            all paths below its prefix, and the prefix itself.",
        "parameters": [{
            "name": "path",
            "in": "path",
            "required": true,
            "description": "Any path, of several segments, too.",
            "schema": {"type": "string"},
        }],
        "responses": {
            "200": {"description": "What the plugin answers; it may have any status.", "content": any},
        },
        "refusals": ["not_granted", "plugin_failed"],
    });
    if mount.body_kib > 0 && !matches!(method, "GET" | "DELETE") {
        operation["requestBody"] = json!({"content": any});
    }
    operation.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_need_what_the_manifest_asks_for() {
        let id = "acme.x".parse().unwrap();
        let all = routes(&id, &Mount::default()).unwrap();
        assert_eq!(all.len(), 5);
        for route in &all {
            assert_eq!(route.scope.as_deref(), Some("bench:control"));
            assert_eq!(route.credentials, Credentials::all());
            assert_eq!(route.body_limit > 0, route.method.starts_with('P'));
        }
        let public = Mount {
            scope: None,
            public: true,
            ..Mount::default()
        };
        let all = routes(&id, &public).unwrap();
        assert!(
            all.iter()
                .all(|route| route.credentials == Credentials::empty())
        );
        let unknown = Mount {
            scope: Some("bench:everything".to_owned()),
            ..Mount::default()
        };
        assert!(routes(&id, &unknown).is_err());
    }
}
