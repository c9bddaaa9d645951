//! The group's table: who may do what.

use guest::Credential;

use crate::ROUTES;

#[test]
fn only_the_picture_is_for_everybody() {
    for route in ROUTES {
        let is_public = route.name == "badges.image";
        assert_eq!(route.credentials.is_empty(), is_public, "{}", route.name);
        if !is_public {
            let both = [Credential::ApiKey, Credential::UserSession];
            assert_eq!(route.credentials, both, "{}", route.name);
            assert_eq!(route.scope, Some("bench:admin"), "{}", route.name);
        }
    }
}
