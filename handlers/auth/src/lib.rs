//! Handler group `auth`: sign-in of people, users, exchange of credentials for cloud-session
//! tokens, and API keys.

mod device;
mod exchange;
mod key;
mod key_create;
mod key_edit;
mod key_list;
mod key_revoke;
mod password;
mod refresh;
mod rule;
mod rule_create;
mod rule_edit;
mod rule_list;
mod rule_remove;
mod scope;
mod session;
mod session_current;
mod session_end;
mod sign_in;
mod token;
mod user;
mod user_code;
mod user_create;
mod user_edit;
mod user_list;
mod user_remove;

/// The endpoints of this group.
pub static ROUTES: &[guest::Route] = &[
    token::ROUTE,
    session::ROUTE,
    session_current::ROUTE,
    session_end::ROUTE,
    sign_in::show::ROUTE,
    sign_in::enter::ROUTE,
    sign_in::leave::ROUTE,
    refresh::ROUTE,
    password::ROUTE,
    user_list::ROUTE,
    user_create::ROUTE,
    user_edit::ROUTE,
    user_remove::ROUTE,
    user_code::ROUTE,
    exchange::ROUTE,
    rule_list::ROUTE,
    rule_create::ROUTE,
    rule_edit::ROUTE,
    rule_remove::ROUTE,
    key_list::ROUTE,
    key_create::ROUTE,
    key_edit::ROUTE,
    key_revoke::ROUTE,
];

guest::serve!(crate::ROUTES);

#[cfg(test)]
mod tests;
