//! Images in the pod's flash, besides the firmware.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::Target;
use crate::image::GATEWARE;

/// An image.
#[derive(Debug)]
struct Blob {
    size: usize,
    version: String,
    sha256: String,
}

/// The three image slots. A pod comes with both gateware images, but without wireless firmware.
#[derive(Debug)]
pub(crate) struct Blobs([Option<Blob>; 3]);

const PLACES: [Target; 3] = [Target::Gateware0, Target::Gateware1, Target::Wireless];

impl Default for Blobs {
    fn default() -> Self {
        let made = |name: &str| Blob::new(name.as_bytes(), &GATEWARE.to_string());
        Self([Some(made("gw0")), Some(made("gw1")), None])
    }
}

impl Blob {
    fn new(bytes: &[u8], version: &str) -> Self {
        Self {
            size: bytes.len(),
            version: version.to_owned(),
            sha256: hex::encode(Sha256::digest(bytes)),
        }
    }
}

impl Blobs {
    /// Stores an image in its slot.
    pub(crate) fn write(&mut self, target: Target, bytes: &[u8], version: &str) {
        for (place, blob) in PLACES.into_iter().zip(&mut self.0) {
            if place == target {
                *blob = Some(Blob::new(bytes, version));
            }
        }
    }

    /// `blob_status`.
    pub(crate) fn status(&self) -> Value {
        let places = PLACES.into_iter().zip(&self.0);
        let blobs: Vec<Value> = places
            .map(|(place, blob)| match blob {
                Some(blob) => json!({"name": place.word(), "state": "ok", "present": true,
                    "size": blob.size, "version": blob.version, "sha256": blob.sha256}),
                None => json!({"name": place.word(), "state": "missing", "present": false,
                    "size": 0, "version": "", "sha256": ""}),
            })
            .collect();
        json!({"blobs": blobs})
    }
}
