//! Handler group `events`: what happens in an organisation, as it happens. Its world reaches nothing else.

mod follow;

/// The endpoints of this group.
pub static ROUTES: &[guest::Route] = &[follow::ROUTE];

guest::serve!(crate::ROUTES);
