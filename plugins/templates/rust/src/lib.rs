//! What the rails of all devices draw, and above which current a rail is marked.

use hostd_plugin::{Error, Request, Response, Route};
use serde_json::json;

mod rails;

/// The endpoints of the plugin.
pub static ROUTES: &[Route] = &[
    Route::get("rails", "/rails", show)
        .scope("bench:control")
        .summary("What every rail of every device draws"),
    Route::new("PUT", "warning", "/warning", set_warning)
        .scope("bench:control")
        .body_limit(1024)
        .summary("Set the current above which a rail is marked"),
];

hostd_plugin::handler!(ROUTES);

fn show(_: &Request) -> Result<Response, Error> {
    Ok(Response::json(200, &rails::report(rails::warning()?)?))
}

fn set_warning(request: &Request) -> Result<Response, Error> {
    let warn_milliamperes = rails::set_warning(&request.json()?)?;
    let told = json!({"warn_milliamperes": warn_milliamperes});
    Ok(Response::json(200, &told))
}

#[cfg(test)]
mod tests;
