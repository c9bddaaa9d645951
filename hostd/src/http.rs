//! The HTTP server: connections, routes, credentials, limits, the error shape. Everything a request
//! passes before and after its handler.

pub mod address;
pub mod arrivals;
pub mod body;
pub mod connections;
pub(crate) mod cookies;
pub mod desk;
pub mod dial;
pub mod error;
pub mod floods;
pub mod flow;
pub mod frames;
pub mod gateway;
pub mod heads;
mod home;
pub mod metrics;
pub mod native;
pub mod openapi;
pub mod origin;
pub mod pages;
pub mod patience;
pub mod peer;
pub(crate) mod people;
pub(crate) mod percent;
pub mod rate;
pub mod rejection;
pub mod relay;
pub mod routes;
pub mod server;
pub mod socket;
pub(crate) mod version;
pub mod web;
