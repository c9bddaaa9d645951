//! The group's table: documents are complete, and every endpoint asks for the control scope.

use crate::ROUTES;

#[test]
fn documents_are_complete_and_examples_fit() {
    guest::openapi::check(ROUTES);
}

#[test]
fn every_endpoint_takes_all_credentials_with_the_control_scope() {
    for route in ROUTES {
        assert_eq!(route.credentials.len(), 3, "{}", route.name);
        assert_eq!(route.scope, Some("bench:control"), "{}", route.name);
    }
}
