//! The group's table: every endpoint asks for the control scope.

use guest::Credential;

use crate::ROUTES;

#[test]
fn every_endpoint_takes_all_credentials_with_the_control_scope() {
    for route in ROUTES {
        if route.name.starts_with("devices.lease") {
            // A lease that need not be shown is for people.
            assert_eq!(
                route.credentials,
                [Credential::UserSession],
                "{}",
                route.name
            );
        } else {
            assert_eq!(route.credentials.len(), 3, "{}", route.name);
        }
        assert_eq!(route.scope, Some("bench:control"), "{}", route.name);
    }
}
