//! The group's table: nothing accepts a long-lived credential.

use guest::Credential;

use crate::ROUTES;

#[test]
fn every_endpoint_takes_the_session_token_alone() {
    for route in ROUTES {
        assert!(
            matches!(route.credentials, [Credential::CloudSession]),
            "{}",
            route.name
        );
        assert_eq!(route.scope, Some("bench:control"), "{}", route.name);
    }
}
