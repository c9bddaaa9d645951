//! What a job's own key opens, and session tokens minted from it: the job's device, and what the job records there.
//!
//! The list has all of it. Whatever is not on it is refused, so that an endpoint that is added later, or that a plugin brings
//! along, is nothing that a program of a job can use until somebody decides so here. Which captures it sees is decided at the
//! door of the host interfaces, for all of them.

use http::StatusCode;

use crate::http::error::ApiError;
use crate::http::routes::Entry;
use identity::Verified;

/// Names of the routes, each of which ends with the job: what it drives is made safe, what it records is the job's.
pub const ROUTES: [&str; 43] = [
    // Who it is, and a session for clients that take no key.
    "auth.session.current",
    "auth.session.end",
    "auth.token",
    // The device: looking at it and driving it.
    "cloud.command",
    "cloud.lease_acquire",
    "cloud.lease_release",
    "cloud.lease_renew",
    "cloud.tunnel",
    "devices.command",
    "devices.firmware",
    "devices.firmware_info",
    "devices.flash",
    "devices.flash.cancel",
    "devices.flash.get",
    "devices.flash.list",
    "devices.flashable",
    "devices.get",
    "devices.list",
    "devices.uart",
    "devices.wiring",
    // What it flashes and plays: read, never changed.
    "builds.artifact",
    "builds.download",
    "dac.replay_start",
    "waveforms.get",
    "waveforms.list",
    "waveforms.preview",
    "waveforms.recording",
    // What it records.
    "captures.cancel",
    "captures.decode",
    "captures.decoders",
    "captures.delete",
    "captures.export",
    "captures.get",
    // Its addresses end with the job.
    "captures.link",
    "captures.list",
    "captures.live",
    "captures.overview",
    "captures.start_dual",
    "captures.start_i2c",
    "captures.start_logic",
    "captures.start_measure",
    "captures.start_scope",
    "captures.update",
];

/// Refuses a job what is not on the list.
pub(super) fn check(verified: &Verified, entry: &Entry) -> Result<(), ApiError> {
    if verified.job().is_none() || is_open(&entry.declared.name) {
        return Ok(());
    }
    Err(ApiError::new(
        StatusCode::FORBIDDEN,
        "not_for_jobs",
        "the key of a job drives the job's device and reads what the job recorded, and changes nothing that outlasts the job; do this with a key of your own, outside of the job",
    ))
}

/// Whether a job may use the route of this name.
fn is_open(name: &str) -> bool {
    ROUTES.contains(&name)
}
