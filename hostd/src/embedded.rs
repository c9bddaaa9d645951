//! The first-party handlers, compiled ahead of time by `cargo xtask handlers`, and the descriptions of
//! their routes, embedded in the binary. If a file is missing here, run that command.

use hostd::groups::Embedded;

macro_rules! embedded {
    ($($name:literal),* $(,)?) => {
        &[$(Embedded {
            name: $name,
            code: include_bytes!(concat!(env!("HOSTD_HANDLERS"), "/", $name, ".cwasm")),
            openapi: include_bytes!(concat!(env!("HOSTD_HANDLERS"), "/", $name, ".openapi.json")),
        }),*]
    };
}

/// One entry per group.
pub(crate) const HANDLERS: &[Embedded] = embedded![
    "auth",
    "badges",
    "builds",
    "captures",
    "cloud",
    "devices",
    "emi",
    "events",
    "jobs",
    "plugins",
    "secrets",
    "updates",
    "waveforms",
    "webhooks",
];
