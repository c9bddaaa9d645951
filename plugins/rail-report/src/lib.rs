//! What the targets of all devices draw: a report over the rails of every device, as JSON and as CSV. It remembers the
//! highest current that it has seen on each rail.

use hostd_plugin::{Error, Request, Response, Route, operation};

mod answer;
mod peak;
mod report;

/// The endpoints of the plugin.
pub static ROUTES: &[Route] = &[
    Route::get("report", "/report", json)
        .scope("bench:control")
        .summary("What every rail of every device draws")
        .openapi(operation!("report")),
    Route::get("csv", "/report.csv", csv)
        .scope("bench:control")
        .summary("The same, for a spreadsheet")
        .openapi(operation!("csv")),
    Route::new("DELETE", "forget", "/peaks", forget)
        .scope("bench:control")
        .summary("Forget the highest currents"),
];

hostd_plugin::handler!(ROUTES);

fn json(_: &Request) -> Result<Response, Error> {
    Ok(Response::json(200, &report::take()?))
}

fn csv(_: &Request) -> Result<Response, Error> {
    let report = report::take()?;
    Ok(Response::new(200, "text/csv; charset=utf-8", report.csv()))
}

fn forget(_: &Request) -> Result<Response, Error> {
    let forgotten = peak::forget_all()?;
    Ok(Response::json(
        200,
        &serde_json::json!({"forgotten": forgotten}),
    ))
}

#[cfg(test)]
mod tests;
