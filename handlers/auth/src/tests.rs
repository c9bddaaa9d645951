//! The group's table: documents are complete, and nothing is public or unscoped by accident.

use guest::Credential;

use crate::ROUTES;

#[test]
fn documents_are_complete_and_examples_fit() {
    guest::openapi::check(ROUTES);
}

#[test]
fn only_sign_in_is_public_and_no_session_token_makes_keys() {
    for route in ROUTES {
        let public = route.credentials.is_empty();
        assert_eq!(public, route.name == "auth.session", "{}", route.name);
        assert_eq!(public, route.scope.is_none(), "{}", route.name);
        assert!(!route.credentials.contains(&Credential::CloudSession));
    }
}
