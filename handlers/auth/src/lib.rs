//! Handler group `auth`: sign-in of people, exchange of credentials for cloud-session tokens, and
//! API keys.

mod key;
mod key_create;
mod key_edit;
mod key_list;
mod key_revoke;
mod scope;
mod session;
mod token;

/// The endpoints of this group.
pub static ROUTES: &[guest::Route] = &[
    token::ROUTE,
    session::ROUTE,
    key_list::ROUTE,
    key_create::ROUTE,
    key_edit::ROUTE,
    key_revoke::ROUTE,
];

guest::serve!(crate::ROUTES);

#[cfg(test)]
mod tests;
