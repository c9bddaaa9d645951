//! The rows, a file for each tag of the OpenAPI document.

#![allow(clippy::too_many_lines, reason = "the rows are a table")]

mod auth;
mod badges;
mod builds;
mod captures;
mod cloud;
mod dac;
mod devices;
mod emi;
mod events;
mod jobs;
mod keys;
mod plugins;
mod secrets;
mod trust;
mod updates;
mod users;
mod waveforms;
mod webhooks;

use crate::call::Rows;

pub(crate) use jobs::WITHOUT_JOBS;
pub(crate) use plugins::{TAR, packed};

pub(crate) fn all() -> Vec<Rows> {
    let groups = [
        auth::all(),
        badges::all(),
        builds::all(),
        captures::all(),
        cloud::all(),
        dac::all(),
        devices::all(),
        emi::all(),
        events::all(),
        jobs::all(),
        keys::all(),
        plugins::all(),
        secrets::all(),
        trust::all(),
        updates::all(),
        users::all(),
        waveforms::all(),
        webhooks::all(),
    ];
    groups.into_iter().flatten().collect()
}
