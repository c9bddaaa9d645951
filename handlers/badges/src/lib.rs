//! Handler group `badges`: pictures of how jobs stand. Its world reaches nothing else, since one of its endpoints is for
//! everybody.

mod badge;
mod create;
mod image;
mod list;
mod remove;
mod svg;

/// The endpoints of this group.
pub static ROUTES: &[guest::Route] = &[list::ROUTE, create::ROUTE, remove::ROUTE, image::ROUTE];

guest::serve!(crate::ROUTES);

#[cfg(test)]
mod tests;
