//! The work as a handler.

use guest::{ApiError, Body, Request, Response, Route, store};

guest::serve!(crate::component::ROUTES);

static ROUTES: &[Route] = &[Route {
    name: "bench.answer",
    method: "POST",
    pattern: "/bench",
    credentials: &[],
    scope: None,
    body_limit: 64 << 10,
    summary: "Summarise numbers and what is stored under their id",
    openapi: guest::Openapi::text("{}"),
    handle: answer,
}];

fn answer(request: &Request) -> Result<Response, ApiError> {
    let body = crate::answer(&request.body, |key| store::get(key).ok()?.map(|e| e.value));
    let body = body.map_err(|e| ApiError::invalid(e.0.to_string()))?;
    Ok(Response {
        status: 200,
        headers: vec![
            ("content-type".to_owned(), "application/json".to_owned()),
            ("cache-control".to_owned(), "no-store".to_owned()),
        ],
        body: Body::Bytes(body),
    })
}
