//! Handler group `emi`: boards are uploaded and analysed, and what is found is told. Names and bodies are those that
//! published clients know.

mod access;
mod artifact;
mod board;
mod example;
mod features;
mod findings;
mod local_status;
mod page;
mod project;
mod refusal;
mod rules;
mod run;
mod upload;

/// The endpoints of this group.
pub static ROUTES: &[guest::Route] = &[
    features::ROUTE,
    local_status::ROUTE,
    rules::ROUTE,
    project::list::ROUTE,
    project::create::ROUTE,
    project::get::ROUTE,
    project::remove::ROUTE,
    project::report::ROUTE,
    upload::begin::ROUTE,
    upload::put::ROUTE,
    board::create::ROUTE,
    board::list::ROUTE,
    board::lookup::ROUTE,
    board::get::ROUTE,
    board::remove::ROUTE,
    board::diff::ROUTE,
    run::create::ROUTE,
    run::list::ROUTE,
    run::get::ROUTE,
    run::stop::ROUTE,
    run::retry::ROUTE,
    findings::ROUTE,
    artifact::list::ROUTE,
    artifact::link::ROUTE,
    artifact::file::ROUTE,
];

guest::serve!(crate::ROUTES);

/// JSON of the host's.
fn parsed(text: &str) -> Result<serde_json::Value, guest::ApiError> {
    serde_json::from_str(text)
        .map_err(|error| guest::ApiError::internal(format!("the host gave no JSON: {error}")))
}

#[cfg(test)]
mod tests;
