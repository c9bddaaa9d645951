//! The group's table: who may do what.

use guest::Credential;

use crate::ROUTES;

#[test]
fn all_are_for_administrators_and_none_for_sessions_of_jobs() {
    for route in ROUTES {
        let both = [Credential::ApiKey, Credential::UserSession];
        assert_eq!(route.credentials, both, "{}", route.name);
        assert_eq!(route.scope, Some("bench:admin"), "{}", route.name);
    }
}
