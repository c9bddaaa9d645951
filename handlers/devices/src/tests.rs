//! The group's table: every endpoint asks for the control scope.

use crate::ROUTES;

#[test]
fn every_endpoint_takes_all_credentials_with_the_control_scope() {
    for route in ROUTES {
        assert_eq!(route.credentials.len(), 3, "{}", route.name);
        assert_eq!(route.scope, Some("bench:control"), "{}", route.name);
    }
}
