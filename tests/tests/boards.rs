//! Boards on the server: uploaded, analysed, compared, removed; who may, who waits, and what a restart leaves.

mod access;
mod bounds;
pub(crate) mod desk;
mod hostile;
mod links;
mod path;
mod restart;
mod runs;
