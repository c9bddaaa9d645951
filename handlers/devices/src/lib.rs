//! Handler group `devices`: the organisation's bench devices and single commands to their pods.

mod command;
mod device;
mod edit;
mod get;
mod list;
mod remove;
mod wiring;
mod wiring_get;
mod wiring_put;

/// The endpoints of this group.
pub static ROUTES: &[guest::Route] = &[
    list::ROUTE,
    get::ROUTE,
    edit::ROUTE,
    remove::ROUTE,
    command::ROUTE,
    wiring_get::ROUTE,
    wiring_put::ROUTE,
];

guest::serve!(crate::ROUTES);

#[cfg(test)]
mod tests;
