//! What a pod reports about itself: its identity and its features.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pod_protocol::Capabilities;
use serde_json::{Map, Value};

use super::{PodError, ProtocolError};

/// Bytes of the public key that form the serial.
const SERIAL_BYTES: usize = 8;

/// Bytes of the public key that form the short id that people see on the network.
const SHORT_ID_BYTES: usize = 3;

/// Who a pod is. The key identifies it across transports and restarts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PodIdentity {
    /// Ed25519 public key, unpadded base64url.
    pub public_key: String,
    /// The first 8 bytes of the key in hex.
    pub serial: String,
    /// The first 3 bytes of the key in hex.
    pub(crate) short_id: String,
}

/// What a pod last reported about itself.
#[derive(Debug, Clone, PartialEq)]
pub struct PodFacts {
    /// Who it is.
    pub identity: PodIdentity,
    /// Board type, such as `stm32h563`.
    pub board: String,
    /// `v2`, `v3` or `unknown`.
    pub board_rev: String,
    /// Firmware version.
    pub firmware_version: String,
    /// What it can do.
    pub capabilities: Capabilities,
    /// The whole `status` data as it came.
    pub raw: Map<String, Value>,
}

impl PodIdentity {
    /// Reads the data of `identity_public`.
    pub(super) fn from_data(data: &Value) -> Result<Self, PodError> {
        let missing = ProtocolError::MissingField {
            command: "identity_public",
            field: "public",
        };
        let key = data.get("public").and_then(Value::as_str);
        let decoded = key.and_then(|key| URL_SAFE_NO_PAD.decode(key).ok());
        match (key, decoded) {
            (Some(key), Some(bytes)) if bytes.len() == 32 => Ok(Self {
                public_key: key.to_owned(),
                serial: hex::encode(&bytes[..SERIAL_BYTES]),
                short_id: hex::encode(&bytes[..SHORT_ID_BYTES]),
            }),
            _ => Err(missing.into()),
        }
    }

    /// The short id of a public key; the text itself if it is not a key.
    pub(super) fn short_id_of(public_key: &str) -> String {
        match URL_SAFE_NO_PAD.decode(public_key) {
            Ok(bytes) if bytes.len() == 32 => hex::encode(&bytes[..SHORT_ID_BYTES]),
            _ => public_key.to_owned(),
        }
    }
}

impl PodFacts {
    /// Reads the data of `status`.
    pub(super) fn from_data(identity: PodIdentity, data: Value) -> Result<Self, PodError> {
        let Value::Object(raw) = data else {
            let missing = ProtocolError::MissingField {
                command: "status",
                field: "board",
            };
            return Err(missing.into());
        };
        let text = |names: &[&str]| {
            let mut values = names.iter().filter_map(|name| raw.get(*name)?.as_str());
            values.next().unwrap_or("unknown").to_owned()
        };
        Ok(Self {
            identity,
            board: text(&["board"]),
            board_rev: text(&["board_rev"]),
            firmware_version: text(&["version", "firmware_version"]),
            capabilities: Capabilities::from_status(&raw),
            raw,
        })
    }
}
