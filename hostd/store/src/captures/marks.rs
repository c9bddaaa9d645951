//! What people keep with a capture, and what it was made with.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What people said of a finished capture.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marks {
    /// It is not deleted: neither to make room, nor when it is old, nor by a request.
    #[serde(default)]
    pub pinned: bool,
    /// What people call channels, by their index.
    #[serde(default)]
    pub labels: BTreeMap<u32, String>,
    /// By channel and sample.
    #[serde(default)]
    pub markers: Vec<Marker>,
}

impl Marks {
    /// Whether nothing was said.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A place in a capture, and what is there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Marker {
    /// Index of the channel whose samples are counted.
    pub channel: u32,
    /// From 0.
    pub sample: u64,
    pub note: String,
}

/// What a capture was made with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// Label of the lease under which the device was held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// The wiring profile of the device; empty if it had none.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub wiring: Map<String, Value>,
    /// What had last been flashed through the device since the server started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub firmware: Option<Firmware>,
}

impl Setup {
    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Firmware of the target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Firmware {
    /// Of the file.
    pub name: String,
    /// Of the file, in hex.
    pub sha256: String,
    /// Id of the build that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
}
