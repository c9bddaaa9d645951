//! The group's table: examples work, and nothing is available without the scope of administrators.

use guest::testing::{request, request_example};

use crate::{ROUTES, start};

#[test]
fn every_endpoint_asks_for_the_admin_scope() {
    for route in ROUTES {
        assert_eq!(route.scope, Some("bench:admin"), "{}", route.name);
        assert!(route.credentials.len() == 3, "{}", route.name);
    }
}

#[test]
fn documented_body_is_accepted() {
    let mut request = request("");
    request.body = request_example(&start::ROUTE);
    assert!(start::parse(request.json().unwrap(), false).is_ok());
}
