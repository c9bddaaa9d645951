//! The group's table: examples work, every endpoint asks for the control scope.

use guest::testing::{request, request_example};

use crate::{ROUTES, start_dual, start_i2c, start_logic, start_measure, start_scope};

#[test]
fn all_but_a_link_takes_all_credentials_with_the_control_scope() {
    let public = |route: &&guest::Route| route.credentials.is_empty();
    let names: Vec<&str> = ROUTES
        .iter()
        .filter(public)
        .map(|route| route.name)
        .collect();
    assert_eq!(names, ["captures.linked"]);
    for route in ROUTES.iter().filter(|route| !public(route)) {
        assert_eq!(route.credentials.len(), 3, "{}", route.name);
        assert_eq!(route.scope, Some("bench:control"), "{}", route.name);
    }
}

#[test]
fn documented_start_bodies_are_accepted() {
    let starts = [
        (&start_scope::ROUTE, start_scope::parse as fn(&_) -> _),
        (&start_logic::ROUTE, start_logic::parse),
        (&start_i2c::ROUTE, start_i2c::parse),
        (&start_dual::ROUTE, start_dual::parse),
        (&start_measure::ROUTE, start_measure::parse),
    ];
    for (route, parse) in starts {
        let mut request = request("");
        request.body = request_example(route);
        assert!(parse(&request).is_ok(), "{}", route.name);
    }
}
