//! Handler group `devices`: the organisation's bench devices, single commands to their pods, their
//! UART streams, leases of people who are signed in, and what is programmed into their targets.

mod admit;
mod command;
mod device;
mod edit;
mod firmware;
mod firmware_info;
mod flash;
mod flash_cancel;
mod flash_get;
mod flash_list;
mod flash_start;
mod get;
mod lease_end;
mod lease_take;
mod list;
mod register;
mod remove;
mod telemetry;
mod uart;
mod wiring;
mod wiring_get;
mod wiring_put;

/// The endpoints of this group.
pub static ROUTES: &[guest::Route] = &[
    list::ROUTE,
    register::ROUTE,
    get::ROUTE,
    edit::ROUTE,
    remove::ROUTE,
    admit::ROUTE,
    command::ROUTE,
    lease_take::ROUTE,
    lease_end::ROUTE,
    wiring_get::ROUTE,
    wiring_put::ROUTE,
    telemetry::ROUTE,
    uart::ROUTE,
    firmware::ROUTE,
    firmware_info::ROUTE,
    flash_start::ROUTE,
    flash_list::ROUTE,
    flash_get::ROUTE,
    flash_cancel::ROUTE,
];

guest::serve!(crate::ROUTES);

#[cfg(test)]
mod tests;
