//! Handler group `cloud`: devices by name for jobs that run elsewhere. A lease first, then commands
//! and byte tunnels under it. Everything here takes the short-lived session token and nothing else.

mod command;
mod device;
mod lease;
mod lease_acquire;
mod lease_release;
mod lease_renew;
mod tunnel;

/// The endpoints of this group.
pub static ROUTES: &[guest::Route] = &[
    command::ROUTE,
    lease_acquire::ROUTE,
    lease_renew::ROUTE,
    lease_release::ROUTE,
    tunnel::ROUTE,
];

guest::serve!(crate::ROUTES);

#[cfg(test)]
mod tests;
