//! The group's table: nothing is public or unscoped by accident.

use guest::Credential;

use crate::ROUTES;

/// These take a secret in the body in place of a credential, or are the page on which somebody gives one.
const PUBLIC: [&str; 5] = [
    "auth.session",
    "auth.refresh",
    "auth.github",
    "auth.sign_in",
    "auth.sign_in_form",
];

/// About the caller alone, whatever its scopes.
const OWN: [&str; 4] = [
    "auth.session.current",
    "auth.session.end",
    "auth.password",
    "auth.sign_out",
];

#[test]
fn only_sign_in_is_public_and_only_ones_own_affairs_need_no_scope() {
    for route in ROUTES {
        let (public, own) = (PUBLIC.contains(&route.name), OWN.contains(&route.name));
        assert_eq!(route.credentials.is_empty(), public, "{}", route.name);
        assert_eq!(route.scope.is_none(), public || own, "{}", route.name);
        let cloud = route.credentials.contains(&Credential::CloudSession);
        assert!(!cloud || own, "{}", route.name);
    }
}

#[test]
fn keys_change_no_users() {
    for route in ROUTES.iter().filter(|r| r.name.starts_with("users.")) {
        let by_key = route.credentials.contains(&Credential::ApiKey);
        assert_eq!(by_key, route.method == "GET", "{}", route.name);
    }
}
