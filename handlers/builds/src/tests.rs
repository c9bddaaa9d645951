//! The group's table: builds are reported by session tokens alone.

use guest::Credential;

use crate::ROUTES;

#[test]
fn only_session_tokens_report_builds() {
    for route in ROUTES {
        let cloud = route.pattern.starts_with("/cloud/");
        let only = route.credentials == [Credential::CloudSession];
        assert_eq!(cloud, only, "{}", route.name);
        assert!(route.scope.is_some(), "{}", route.name);
    }
}
