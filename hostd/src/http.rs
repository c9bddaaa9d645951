//! HTTP in: connections, routes, credentials, limits, the error shape. Everything a request meets
//! before and after its handler.

pub mod body;
pub mod error;
pub mod flow;
pub mod gateway;
pub mod metrics;
pub mod multipart;
pub mod native;
pub mod openapi;
pub mod pages;
pub mod patience;
pub mod rate;
pub mod rejection;
pub mod routes;
pub mod server;
pub mod socket;
