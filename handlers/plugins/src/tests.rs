//! The group's table: who may do what.

use guest::Credential;

use crate::ROUTES;

#[test]
fn administrators_alone_and_no_session_token() {
    assert_eq!(ROUTES.len(), 11);
    for route in ROUTES {
        let both = [Credential::ApiKey, Credential::UserSession];
        assert_eq!(route.credentials, both, "{}", route.name);
        assert_eq!(route.scope, Some("bench:admin"), "{}", route.name);
    }
}
