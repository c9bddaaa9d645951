//! The group's table: documents are complete, examples work, nothing is to be had without the
//! scope of administrators.

use guest::openapi::request_example;
use guest::testing::request;

use crate::{ROUTES, start};

#[test]
fn documents_are_complete_and_examples_fit() {
    guest::openapi::check(ROUTES);
}

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
