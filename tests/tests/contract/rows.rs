//! The rows, a file for each tag of the OpenAPI document.

#![allow(clippy::too_many_lines, reason = "the rows are a table")]

mod auth;
mod builds;
mod captures;
mod cloud;
mod dac;
mod devices;
mod jobs;
mod keys;
mod trust;
mod updates;
mod users;
mod waveforms;

use crate::call::Rows;

pub(crate) use jobs::WITHOUT_JOBS;

pub(crate) fn all() -> Vec<Rows> {
    let groups = [
        auth::all(),
        builds::all(),
        captures::all(),
        cloud::all(),
        dac::all(),
        devices::all(),
        jobs::all(),
        keys::all(),
        trust::all(),
        updates::all(),
        users::all(),
        waveforms::all(),
    ];
    groups.into_iter().flatten().collect()
}
