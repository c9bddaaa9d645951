//! The group's table: who may do what.

use guest::Credential;

use crate::ROUTES;

#[test]
fn all_but_the_schema_asks_for_the_scope_of_jobs() {
    let public: Vec<&str> = ROUTES
        .iter()
        .filter(|route| route.credentials.is_empty() || route.scope.is_none())
        .map(|route| route.name)
        .collect();
    assert_eq!(public, ["jobs.schema"]);
    for route in ROUTES.iter().filter(|route| route.name != "jobs.schema") {
        let both = [Credential::ApiKey, Credential::UserSession];
        assert_eq!(route.credentials, both, "{}", route.name);
        assert_eq!(route.scope, Some("jobs:submit"), "{}", route.name);
    }
}

#[test]
fn only_a_submission_has_a_body() {
    let with_body: Vec<&str> = ROUTES
        .iter()
        .filter(|route| route.body_limit > 0)
        .map(|route| route.name)
        .collect();
    assert_eq!(with_body, ["jobs.submit"]);
}
