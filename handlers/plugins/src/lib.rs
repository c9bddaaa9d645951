//! Handler group `plugins`: what is installed, what it may do where, and what its operators have done with it.

mod approve;
mod configure;
mod disable;
mod enable;
mod get;
mod install;
mod list;
mod logs;
mod notes;
mod plugin;
mod remove;
mod revoke;
mod rollback;

/// The endpoints of this group.
pub static ROUTES: &[guest::Route] = &[
    list::ROUTE,
    install::ROUTE,
    get::ROUTE,
    remove::ROUTE,
    approve::ROUTE,
    revoke::ROUTE,
    configure::ROUTE,
    enable::ROUTE,
    disable::ROUTE,
    rollback::ROUTE,
    logs::ROUTE,
];

guest::serve!(crate::ROUTES);

#[cfg(test)]
mod tests;
