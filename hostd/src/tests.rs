//! Tests of the server in this process, with the handlers that the binary embeds: what no request
//! from outside can bring about.

mod http;
mod plugins;
mod relay;
mod stage;
