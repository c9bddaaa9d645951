//! The report as it is answered. The plugin and its build script, which describes the endpoint with it, both compile this file.

use schemars::JsonSchema;
use serde::Serialize;

/// All rails of all devices at one time.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Report {
    /// Milliseconds since 1970.
    pub(crate) at_ms: u64,
    pub(crate) rails: Vec<Row>,
    // Devices that could not be asked, and why.
    pub(crate) skipped: Vec<Skipped>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Row {
    pub(crate) device: String,
    pub(crate) rail: u8,
    pub(crate) on: bool,
    pub(crate) fault: bool,
    pub(crate) millivolts: Option<i64>,
    pub(crate) microamperes: Option<i64>,
    pub(crate) microwatts: Option<i64>,
    /// The highest since it was forgotten.
    pub(crate) peak_microamperes: Option<i64>,
    /// It draws more than `warn_milliamperes` of the configuration.
    pub(crate) high: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Skipped {
    pub(crate) device: String,
    pub(crate) code: String,
    pub(crate) reason: String,
}
