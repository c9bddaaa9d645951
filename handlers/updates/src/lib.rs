//! Handler group `updates`: the firmware of the pods themselves.

mod abort;
mod get;
mod start;
mod update;

/// The endpoints of this group.
pub static ROUTES: &[guest::Route] = &[start::ROUTE, get::ROUTE, abort::ROUTE];

guest::serve!(crate::ROUTES);

#[cfg(test)]
mod tests;
