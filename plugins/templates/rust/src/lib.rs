//! What the rails of all devices draw, and above which current a rail is marked.

use hostd_plugin::{Error, Request, Response, Route, operation};

mod rails;
mod wire;

/// The endpoints of the plugin.
pub static ROUTES: &[Route] = &[
    Route::get("rails", "/rails", show)
        .scope("bench:control")
        .summary("What every rail of every device draws")
        .openapi(operation!("rails")),
    Route::new("PUT", "warning", "/warning", set_warning)
        .scope("bench:control")
        .body_limit(1024)
        .summary("Set the current above which a rail is marked")
        .openapi(operation!("warning")),
];

hostd_plugin::handler!(ROUTES);

fn show(_: &Request) -> Result<Response, Error> {
    Ok(Response::json(200, &rails::report(rails::warning()?)?))
}

fn set_warning(request: &Request) -> Result<Response, Error> {
    let asked: wire::Warning = request.json()?;
    rails::set_warning(&asked)?;
    Ok(Response::json(200, &asked))
}

#[cfg(test)]
mod tests;
