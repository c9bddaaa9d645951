//! Handler group `secrets`: what an organisation keeps for its jobs. Values are written and never read back.

mod list;
mod put;
mod remove;
mod secret;

/// The endpoints of this group.
pub static ROUTES: &[guest::Route] = &[list::ROUTE, put::ROUTE, remove::ROUTE];

guest::serve!(crate::ROUTES);

#[cfg(test)]
mod tests;
