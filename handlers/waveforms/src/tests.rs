//! The group's table: documents are complete, and every endpoint asks for the right to drive devices.

use crate::ROUTES;

#[test]
fn documents_are_complete_and_examples_fit() {
    guest::openapi::check(ROUTES);
}

#[test]
fn every_endpoint_asks_for_the_right_to_drive_devices() {
    for route in ROUTES {
        assert_eq!(route.scope, Some("bench:control"), "{}", route.name);
        assert_eq!(route.credentials.len(), 3, "{}", route.name);
    }
}
