//! Handler group `devices`: the organisation's bench devices, single commands to their pods, and
//! their UART streams.

mod command;
mod device;
mod edit;
mod get;
mod list;
mod remove;
mod uart;
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
    uart::ROUTE,
];

guest::serve!(crate::ROUTES);

#[cfg(test)]
mod tests;
