//! The group's table: who may do what.

use guest::Credential;

use crate::ROUTES;

#[test]
fn all_but_the_schema_asks_for_a_scope() {
    let public: Vec<&str> = ROUTES
        .iter()
        .filter(|route| route.credentials.is_empty() || route.scope.is_none())
        .map(|route| route.name)
        .collect();
    assert_eq!(public, ["jobs.schema"]);
    for route in ROUTES.iter().filter(|route| route.name != "jobs.schema") {
        let both = [Credential::ApiKey, Credential::UserSession];
        assert_eq!(route.credentials, both, "{}", route.name);
        let scope = match route.name {
            "jobs.trust_refs" => "bench:admin",
            _ => "jobs:submit",
        };
        assert_eq!(route.scope, Some(scope), "{}", route.name);
    }
}

#[test]
fn few_have_a_body() {
    let with_body: Vec<&str> = ROUTES
        .iter()
        .filter(|route| route.body_limit > 0)
        .map(|route| route.name)
        .collect();
    assert_eq!(with_body, ["jobs.submit", "jobs.check", "jobs.trust_refs"]);
}
