//! A plugin that does what its caller says, for tests of what plugins may do: calls one function of the host, or commits a
//! crime.

#![cfg(target_arch = "wasm32")]

mod calls;
mod captures;
mod crimes;
mod hearing;

use std::cell::Cell;

use hostd_plugin::{Error, Request, Response, Route, config};

/// Tests write another version here, of the same length, and have another component.
static MARK: &str = "MARK:version-1.0.0:";

static ROUTES: &[Route] = &[
    Route::get("mark", "/mark", mark),
    Route::post("echo", "/echo", 1 << 20, echo),
    Route::post("call", "/call", 128 << 10, call),
    Route::get("crime", "/crime/{what}", crime),
    Route::get("open", "/open", open).public(),
    Route::get("admin", "/admin", mark).scope("bench:admin"),
];

hostd_plugin::handler!(ROUTES);
hostd_plugin::subscriber!(hearing::on_event, hearing::on_timer);

thread_local! {
    static CALLS: Cell<u32> = const { Cell::new(0) };
}

fn mark(request: &Request) -> Result<Response, Error> {
    let calls = CALLS.get() + 1;
    CALLS.set(calls);
    let caller = request.caller.as_ref().map(|caller| caller.org.clone());
    let release = release()?;
    let body = serde_json::json!({
        "mark": MARK,
        "release": release,
        "calls": calls,
        "org": caller,
        "path": request.path,
    });
    Ok(marked(Response::json(200, &body), release))
}

fn echo(request: &Request) -> Result<Response, Error> {
    let body = request.body.clone();
    let response = Response::new(200, "application/octet-stream", body);
    Ok(marked(response, release()?))
}

/// What the manifest of the version says, by way of its configuration.
fn release() -> Result<String, Error> {
    let config: serde_json::Value = config::get()?;
    Ok(config["release"].as_str().unwrap_or_default().to_owned())
}

/// Name the version, as the component and as the manifest say it.
fn marked(mut response: Response, release: String) -> Response {
    let mark = ("x-mark".to_owned(), MARK.to_owned());
    response
        .headers
        .extend([mark, ("x-release".to_owned(), release)]);
    response
}

fn call(request: &Request) -> Result<Response, Error> {
    let value = calls::make(&request.json()?)?;
    Ok(Response::json(200, &value))
}

fn crime(request: &Request) -> Result<Response, Error> {
    Ok(crimes::commit(request.param(0)))
}

fn open(_: &Request) -> Result<Response, Error> {
    Ok(Response::text(200, "open"))
}
