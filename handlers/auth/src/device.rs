//! Devices that tokens and rules are restricted to: by name in requests, with their ids in answers.

use guest::{Shape, list, text};
use schemars::JsonSchema;
use serde::Serialize;

/// Longest device name, in characters.
const NAME_CHARS_MAX: usize = 64;

/// Names of devices. An empty list is surely a mistake, so at least one is required.
pub(crate) fn names(most: usize) -> impl Shape<Value = Vec<String>> {
    list(text(1..=NAME_CHARS_MAX), 1..=most)
}

/// A device that something is restricted to.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Device<'a> {
    id: &'a str,
    name: &'a str,
}

/// Records of devices from their ids and names.
pub(crate) fn records(devices: &[(String, String)]) -> Vec<Device<'_>> {
    let devices = devices.iter();
    devices.map(|(id, name)| Device { id, name }).collect()
}

/// One device, for the documentation.
pub(crate) fn example() -> Vec<(String, String)> {
    vec![("01JGZ5V9T3N8W2K4Q7R6D1M0XD".into(), "bench-1".into())]
}
