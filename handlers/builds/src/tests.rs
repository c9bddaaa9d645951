//! The group's table: documents are complete, and builds are reported by session tokens alone.

use guest::Credential;

use crate::ROUTES;

#[test]
fn documents_are_complete_and_examples_fit() {
    guest::openapi::check(ROUTES);
}

#[test]
fn only_session_tokens_report_builds() {
    for route in ROUTES {
        let cloud = route.pattern.starts_with("/cloud/");
        let only = route.credentials == [Credential::CloudSession];
        assert_eq!(cloud, only, "{}", route.name);
        assert!(route.scope.is_some(), "{}", route.name);
    }
}
