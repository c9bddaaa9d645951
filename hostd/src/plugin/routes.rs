//! The routes that a plugin declares, checked, and put below its prefix.

use identity::scope::Scope;
use plugins::id::PluginId;
use runtime::{Credentials, Route};

use super::bindings::handler::exports::hostd::plugin::http as wit;
use super::reports::kind::RESERVED;
use crate::http::routes::RouteTable;

/// Routes of one plugin.
const ROUTES_MAX: usize = 256;

/// Longest name of a route.
const NAME_LEN_MAX: usize = 64;

/// Longest pattern in bytes.
const PATTERN_BYTES_MAX: usize = 256;

/// Longest summary in bytes.
const SUMMARY_BYTES_MAX: usize = 256;

/// Longest description of one route in bytes.
const OPENAPI_BYTES_MAX: usize = 64 << 10;

/// Largest request body.
const BODY_BYTES_MAX: u32 = 8 << 20;

/// Why a plugin's routes cannot be served. Fits "failed to …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum RoutesError {
    #[error("serve {0} routes: the limit is {ROUTES_MAX}")]
    Many(usize),
    #[error("serve route {name:?}: {rule}")]
    Rule { name: String, rule: &'static str },
    #[error("serve its routes: {0}")]
    Table(String),
}

/// Check what the plugin `id` declares and give it its place. `public`: whether its manifest asks for callers without a
/// credential.
///
/// # Errors
/// The first route that breaks a rule.
pub(super) fn table(
    id: &PluginId,
    declared: Vec<wit::Route>,
    public: bool,
) -> Result<RouteTable, RoutesError> {
    if declared.len() > ROUTES_MAX {
        return Err(RoutesError::Many(declared.len()));
    }
    let routes: Vec<Route> = declared
        .into_iter()
        .map(|route| placed(id, route, public))
        .collect::<Result<_, _>>()?;
    let mut table = RouteTable::default();
    let added = table.add(0, &routes);
    added.map_err(|error| RoutesError::Table(error.to_string()))?;
    Ok(table)
}

/// Check that no two routes of a plugin have one name, which is what metrics and the OpenAPI document know them by.
///
/// # Errors
/// The first name that two have.
pub(super) fn check_names(table: &RouteTable) -> Result<(), RoutesError> {
    let names = table.iter().map(|entry| entry.declared.name.as_str());
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(twice) => Err(RoutesError::Rule {
            name: twice[0].to_owned(),
            rule: "its name is taken by another",
        }),
        None => Ok(()),
    }
}

fn placed(id: &PluginId, route: wit::Route, public: bool) -> Result<Route, RoutesError> {
    let rule = broken(&route, public);
    if let Some(rule) = rule {
        let name = route.name.chars().take(NAME_LEN_MAX).collect();
        return Err(RoutesError::Rule { name, rule });
    }
    Ok(Route {
        name: format!("x.{id}.{}", route.name),
        method: route.method,
        pattern: format!("/x/{id}{}", route.pattern),
        credentials: if route.public {
            Credentials::empty()
        } else {
            Credentials::all()
        },
        scope: route.scope,
        body_limit: route.body_limit,
        streamed_body: false,
        summary: route.summary,
        openapi: if route.openapi.is_empty() {
            r#"{"responses":{"200":{"description":"What the plugin answers."}}}"#.to_owned()
        } else {
            route.openapi
        },
    })
}

/// The rule that a route breaks.
fn broken(route: &wit::Route, public: bool) -> Option<&'static str> {
    let is_name = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_.-".contains(&b);
    if !(1..=NAME_LEN_MAX).contains(&route.name.len()) || !route.name.bytes().all(is_name) {
        return Some("its name must be 1 to 64 of a-z 0-9 _ . -");
    }
    if !matches!(
        route.method.as_str(),
        "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
    ) {
        return Some("its method must be GET, POST, PUT, PATCH or DELETE");
    }
    let is_path = |b: u8| b.is_ascii_graphic() && !b"?#%\\\"".contains(&b);
    if route.pattern.len() > PATTERN_BYTES_MAX
        || !route.pattern.starts_with('/')
        || !route.pattern.bytes().all(is_path)
    {
        return Some("its pattern must begin with / and be at most 256 plain characters");
    }
    let first = route.pattern.split('/').nth(1).unwrap_or_default();
    let first_word = route.name.split('.').next().unwrap_or_default();
    if first == RESERVED || first_word == RESERVED {
        return Some(
            "its pattern or name begins with reports, which is for reports that the host asks a plugin for",
        );
    }
    if route
        .scope
        .as_deref()
        .is_some_and(|scope| Scope::parse(scope).is_none())
    {
        return Some("its scope is unknown");
    }
    if route.public && route.scope.is_some() {
        return Some("it asks for a scope of callers without a credential");
    }
    if route.public && !public {
        return Some("it is public, which the manifest does not ask for (wants.public)");
    }
    if route.body_limit > BODY_BYTES_MAX {
        return Some("its body-limit is over 8 MiB");
    }
    if route.summary.len() > SUMMARY_BYTES_MAX || route.summary.chars().any(char::is_control) {
        return Some("its summary must be one line of at most 256 bytes");
    }
    if route.openapi.len() > OPENAPI_BYTES_MAX {
        return Some("its openapi is over 64 KiB");
    }
    let is_object = || {
        serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&route.openapi).is_ok()
    };
    if !route.openapi.is_empty() && !is_object() {
        return Some("its openapi is not a JSON object");
    }
    None
}

#[cfg(test)]
mod tests;
