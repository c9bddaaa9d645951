//! Dispatch by number.

use crate::testing::{get, json};
use crate::{ApiError, Body, Credential, Credentials, Request, Response, Route, dispatch, table};

fn answer(request: &Request) -> Result<Response, ApiError> {
    if request.query.is_empty() {
        Ok(Response::no_content())
    } else {
        Err(ApiError::not_found("thing", request.param(0)))
    }
}

fn teapot(_: &Request) -> Result<Response, ApiError> {
    Ok(Response {
        status: 418,
        headers: Vec::new(),
        body: Body::Empty,
    })
}

const ONE: Route = Route {
    name: "things.get",
    method: "GET",
    pattern: "/things/{id}",
    credentials: &[Credential::ApiKey, Credential::CloudSession],
    scope: Some("things:read"),
    body_limit: 0,
    summary: "A thing",
    openapi: crate::Openapi::text("{}"),
    handle: answer,
};

static ROUTES: &[Route] = &[
    ONE,
    Route {
        name: "things.pour",
        handle: teapot,
        ..ONE
    },
];

#[test]
fn the_number_selects_the_function() {
    let mut request = get(&["a"], "");
    assert_eq!(dispatch(ROUTES, &request).status, 204);
    request.route = 1;
    assert_eq!(dispatch(ROUTES, &request).status, 418);
}

#[test]
fn errors_become_responses_with_the_request_id() {
    let response = dispatch(ROUTES, &get(&["a"], "x=1"));
    assert_eq!(response.status, 404);
    assert_eq!(json(&response)["error"], "thing not found: a");
    assert_eq!(json(&response)["request_id"], "01TESTREQUEST");
}

#[test]
fn a_number_beyond_the_table_is_the_hosts_mistake() {
    for route in [2, u32::MAX] {
        let response = dispatch(
            ROUTES,
            &Request {
                route,
                ..get(&[], "")
            },
        );
        assert_eq!(response.status, 500);
        assert_eq!(json(&response)["code"], "internal");
    }
}

#[test]
fn the_declared_table_has_the_same_order() {
    let declared = table(ROUTES);
    assert_eq!(declared.len(), 2);
    assert_eq!(declared[1].name, "things.pour");
    assert_eq!(declared[0].scope.as_deref(), Some("things:read"));
    assert_eq!(
        declared[0].credentials,
        Credentials::API_KEY | Credentials::CLOUD_SESSION
    );
}
