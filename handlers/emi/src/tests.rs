//! The group's table: who may do what.

use guest::Credential;

use crate::ROUTES;

#[test]
fn all_but_signed_addresses_ask_for_the_scope_of_boards() {
    let public: Vec<&str> = ROUTES
        .iter()
        .filter(|route| route.credentials.is_empty() || route.scope.is_none())
        .map(|route| route.name)
        .collect();
    assert_eq!(public, ["emi.upload", "emi.file"]);
    for route in ROUTES.iter().filter(|route| !public.contains(&route.name)) {
        let both = [Credential::ApiKey, Credential::UserSession];
        assert_eq!(route.credentials, both, "{}", route.name);
        assert_eq!(route.scope, Some("emi:analyze"), "{}", route.name);
    }
}

#[test]
fn only_those_that_make_something_have_a_body() {
    let with_body: Vec<&str> = ROUTES
        .iter()
        .filter(|route| route.body_limit > 0)
        .map(|route| route.name)
        .collect();
    assert_eq!(
        with_body,
        [
            "emi.project_create",
            "emi.upload_begin",
            "emi.upload",
            "emi.board_create",
            "emi.run_create"
        ]
    );
}
