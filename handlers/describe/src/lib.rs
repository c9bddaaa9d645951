//! What the routes of all first-party groups take and return, from the types that they work with.
//!
//! It runs where the handlers are built, in `cargo xtask handlers`, so that no component carries its
//! own description as code; the host gets it beside the component.

use guest::{Route, Schemas};
use serde_json::{Map, Value, json};

/// The groups, as their components are named.
pub const GROUPS: &[(&str, &[Route])] = &[
    ("auth", handler_auth::ROUTES),
    ("badges", handler_badges::ROUTES),
    ("builds", handler_builds::ROUTES),
    ("captures", handler_captures::ROUTES),
    ("cloud", handler_cloud::ROUTES),
    ("devices", handler_devices::ROUTES),
    ("emi", handler_emi::ROUTES),
    ("events", handler_events::ROUTES),
    ("jobs", handler_jobs::ROUTES),
    ("plugins", handler_plugins::ROUTES),
    ("secrets", handler_secrets::ROUTES),
    ("updates", handler_updates::ROUTES),
    ("waveforms", handler_waveforms::ROUTES),
    ("webhooks", handler_webhooks::ROUTES),
];

/// Where the document keeps schemas that several of its places refer to.
const SCHEMAS: &str = "#/components/schemas/";

/// Each group by its name.
#[must_use]
pub fn all() -> Value {
    let groups = GROUPS.iter();
    groups
        .map(|(name, routes)| ((*name).to_owned(), group(name, routes)))
        .collect::<Map<String, Value>>()
        .into()
}

/// `{"routes": {name: OpenAPI members}, "schemas": {name: schema}}`
fn group(name: &str, routes: &[Route]) -> Value {
    let mut schemas = Schemas::default();
    let routes: Map<String, Value> = routes
        .iter()
        .map(|route| {
            (
                route.name.to_owned(),
                route.openapi.members(&mut schemas).into(),
            )
        })
        .collect();
    let schemas = schemas.finish().into_iter();
    let schemas: Map<String, Value> = schemas
        .map(|(schema, value)| (format!("{name}.{schema}"), value))
        .collect();
    let mut described = json!({"routes": routes, "schemas": schemas});
    refer_to(&mut described, name);
    described
}

/// Records of two groups may share a name, so each group puts its own name before them.
fn refer_to(value: &mut Value, group: &str) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(target) if name == "$ref" => {
                        *target = target.replace(SCHEMAS, &format!("{SCHEMAS}{group}."));
                    }
                    member => refer_to(member, group),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| refer_to(item, group)),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
