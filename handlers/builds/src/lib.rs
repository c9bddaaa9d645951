//! Handler group `builds`: builds that CI reports with their firmware, and finding that firmware
//! again.

mod artifact;
mod artifact_add;
mod build;
mod create;
mod download;
mod finish;
mod flashable;
mod log_add;
mod select;
mod wiring;

/// The endpoints of this group.
pub static ROUTES: &[guest::Route] = &[
    create::ROUTE,
    artifact_add::ROUTE,
    log_add::ROUTE,
    finish::ROUTE,
    select::ROUTE,
    download::ROUTE,
    flashable::ROUTE,
];

guest::serve!(crate::ROUTES);

#[cfg(test)]
mod tests;
