//! What bodies and answers have. The plugin and `build.rs`, which describes the endpoints with it, both compile this file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bounds of the current above which a rail is marked, in mA.
pub const WARN_MIN: i64 = 1;
pub const WARN_MAX: i64 = 10_000;

/// Every rail of every device.
#[derive(Serialize, JsonSchema)]
pub struct Report {
    /// The current in mA above which a rail is marked.
    pub warn_milliamperes: i64,
    pub rails: Vec<Rail>,
    /// Devices that could not be asked, and why.
    pub skipped: Vec<Skipped>,
}

#[derive(Serialize, JsonSchema)]
pub struct Rail {
    pub device: String,
    pub rail: u8,
    pub on: bool,
    pub millivolts: Option<i64>,
    pub microamperes: Option<i64>,
    /// It draws more than `warn_milliamperes`.
    pub high: bool,
}

#[derive(Serialize, JsonSchema)]
pub struct Skipped {
    pub device: String,
    pub code: String,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct Warning {
    /// The current in mA above which a rail is marked.
    #[schemars(range(min = WARN_MIN, max = WARN_MAX))]
    pub warn_milliamperes: i64,
}
