//! The rows, a file for each tag of the OpenAPI document.

mod auth;
mod builds;
mod captures;
mod cloud;
mod devices;
mod keys;
mod trust;
mod users;

use crate::call::Rows;

pub(crate) fn all() -> Vec<Rows> {
    let groups = [
        auth::all(),
        builds::all(),
        captures::all(),
        cloud::all(),
        devices::all(),
        keys::all(),
        trust::all(),
        users::all(),
    ];
    groups.into_iter().flatten().collect()
}
