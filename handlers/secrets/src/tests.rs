//! The group's table: who may do what.

use guest::Credential;

use crate::ROUTES;

#[test]
fn whoever_submits_sees_names_and_administrators_alone_write() {
    let table: Vec<_> = ROUTES.iter().map(|r| (r.name, r.scope)).collect();
    let expected = [
        ("secrets.list", Some("jobs:submit")),
        ("secrets.put", Some("bench:admin")),
        ("secrets.remove", Some("bench:admin")),
    ];
    assert_eq!(table, expected);
    for route in ROUTES {
        let both = [Credential::ApiKey, Credential::UserSession];
        assert_eq!(route.credentials, both, "{}", route.name);
    }
}
