//! The first-party handlers, compiled ahead of time by `cargo xtask handlers` and carried in the
//! binary. When a file is missing here, run that command.

use hostd::groups::Embedded;

/// One entry a group.
pub(crate) const HANDLERS: &[Embedded] = &[
    (
        "auth",
        include_bytes!(concat!(env!("HOSTD_HANDLERS"), "/auth.cwasm")),
    ),
    (
        "builds",
        include_bytes!(concat!(env!("HOSTD_HANDLERS"), "/builds.cwasm")),
    ),
    (
        "captures",
        include_bytes!(concat!(env!("HOSTD_HANDLERS"), "/captures.cwasm")),
    ),
    (
        "cloud",
        include_bytes!(concat!(env!("HOSTD_HANDLERS"), "/cloud.cwasm")),
    ),
    (
        "devices",
        include_bytes!(concat!(env!("HOSTD_HANDLERS"), "/devices.cwasm")),
    ),
    (
        "updates",
        include_bytes!(concat!(env!("HOSTD_HANDLERS"), "/updates.cwasm")),
    ),
    (
        "waveforms",
        include_bytes!(concat!(env!("HOSTD_HANDLERS"), "/waveforms.cwasm")),
    ),
];
