//! A plugin that does what its caller says, for tests of what plugins may do: calls one function of the host, or commits a
//! crime.

#![cfg(target_arch = "wasm32")]

mod calls;
mod crimes;

use std::cell::Cell;

use hostd_plugin::{Error, Request, Response, Route};

/// Tests write another version here, of the same length, and have another component.
static MARK: &str = "MARK:version-1.0.0:";

static ROUTES: &[Route] = &[
    Route::get("mark", "/mark", mark),
    Route::post("echo", "/echo", 1 << 20, echo),
    Route::post("call", "/call", 64 << 10, call),
    Route::get("crime", "/crime/{what}", crime),
    Route::get("open", "/open", open).public(),
    Route::get("admin", "/admin", mark).scope("bench:admin"),
];

hostd_plugin::handler!(ROUTES);

thread_local! {
    static CALLS: Cell<u32> = const { Cell::new(0) };
}

fn mark(request: &Request) -> Result<Response, Error> {
    let calls = CALLS.get() + 1;
    CALLS.set(calls);
    let caller = request.caller.as_ref().map(|caller| caller.org.clone());
    Ok(Response::json(
        200,
        &serde_json::json!({"mark": MARK, "calls": calls, "org": caller, "path": request.path}),
    ))
}

fn echo(request: &Request) -> Result<Response, Error> {
    Ok(Response::new(
        200,
        "application/octet-stream",
        request.body.clone(),
    ))
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
