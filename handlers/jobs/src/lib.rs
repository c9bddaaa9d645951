//! Handler group `jobs`: submit pipelines, follow them, and fetch what they leave.

mod artifact;
mod artifacts;
mod cancel;
mod capture;
mod cases;
mod check;
mod example;
mod get;
mod job;
mod junit;
mod list;
mod live;
mod log;
mod measurement;
mod measurements;
mod page;
mod refusal;
mod report;
mod retry;
mod schema;
mod submit;
mod trace;
mod trust_refs;
mod trusted_refs;
mod why;

/// The endpoints of this group.
pub static ROUTES: &[guest::Route] = &[
    submit::ROUTE,
    check::ROUTE,
    list::ROUTE,
    schema::ROUTE,
    cases::ROUTE,
    trusted_refs::ROUTE,
    trust_refs::ROUTE,
    get::ROUTE,
    cancel::ROUTE,
    retry::ROUTE,
    why::ROUTE,
    log::ROUTE,
    live::ROUTE,
    artifacts::ROUTE,
    artifact::ROUTE,
    capture::ROUTE,
    junit::ROUTE,
    report::ROUTE,
    trace::ROUTE,
    measurements::ROUTE,
];

guest::serve!(crate::ROUTES);

#[cfg(test)]
mod tests;
