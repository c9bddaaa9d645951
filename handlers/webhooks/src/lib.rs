//! Handler group `webhooks`: who is told of finished jobs, and what became of each message.

mod create;
mod deliveries;
mod delivery;
mod edit;
mod get;
mod list;
mod redeliver;
mod remove;
mod rotate;
mod send_test;
mod webhook;

/// The endpoints of this group.
pub static ROUTES: &[guest::Route] = &[
    list::ROUTE,
    create::ROUTE,
    get::ROUTE,
    edit::ROUTE,
    rotate::ROUTE,
    remove::ROUTE,
    deliveries::ROUTE,
    redeliver::ROUTE,
    send_test::ROUTE,
];

guest::serve!(crate::ROUTES);

#[cfg(test)]
mod tests;
