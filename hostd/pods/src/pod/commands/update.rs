//! Updates of the pod itself, in steps: begin, data, end, commit; abort at any time before commit.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::{base64url, read, request};
use crate::pod::{DEFAULT_REPLY_TIMEOUT, Pod, PodError};

/// Most bytes of a part.
pub const OTA_PART_BYTES_MAX: usize = 768;

/// How long a pod may take to store a part. It only copies the part to memory, so a pod that takes
/// longer has stalled.
pub const OTA_PART_TIMEOUT: Duration = Duration::from_secs(5);

/// What is updated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtaTarget {
    /// The firmware; the pod restarts to run it.
    Firmware,
    /// Gateware image 0.
    Gateware0,
    /// Gateware image 1.
    Gateware1,
    /// The Wi-Fi controller.
    Wifi,
    /// Certificates that the pod trusts.
    CloudCa,
    /// The pod's own certificate.
    Tls,
}

impl OtaTarget {
    /// The protocol's name; none for the firmware.
    fn name(self) -> Option<&'static str> {
        match self {
            Self::Firmware => None,
            Self::Gateware0 => Some("gw0"),
            Self::Gateware1 => Some("gw1"),
            Self::Wifi => Some("esp"),
            Self::CloudCa => Some("ca"),
            Self::Tls => Some("tls"),
        }
    }
}

/// Where an update is. Fields that a pod leaves out are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct OtaProgress {
    /// `idle`, `receiving`, `verified`, `error` or `installed`.
    pub state: String,
    /// Bytes received so far.
    pub received: u64,
    /// Bytes in all.
    pub size: u64,
    /// The verdict on the signature: `none`, `ok`, or why it is not valid.
    pub sig: String,
    /// Who updates: `cloud`, `usb`, `lan:<n>`.
    pub owner: String,
    /// Why it failed.
    pub error: Option<String>,
}

impl Pod {
    /// Begins an update of `size` bytes whose SHA-256 is `sha256`, in hex. `signature` is the
    /// signature block, if there is one.
    ///
    /// # Errors
    /// [`PodError`].
    pub async fn ota_begin(
        &self,
        target: OtaTarget,
        size: u64,
        sha256: &str,
        signature: Option<&[u8]>,
    ) -> Result<OtaProgress, PodError> {
        let fields = [("size", size.into()), ("sha256", sha256.into())];
        let mut command = request("ota_begin", fields);
        if let Some(target) = target.name() {
            command.insert("target".to_owned(), target.into());
        }
        if let Some(signature) = signature {
            command.insert("sig".to_owned(), base64url(signature).into());
        }
        let data = self.command(command, DEFAULT_REPLY_TIMEOUT).await?;
        read("ota_begin", data)
    }

    /// Sends a part, at most [`OTA_PART_BYTES_MAX`], which starts at byte `offset`. It may take
    /// [`OTA_PART_TIMEOUT`].
    ///
    /// # Errors
    /// [`PodError`].
    pub async fn ota_data(&self, offset: u64, part: &[u8]) -> Result<OtaProgress, PodError> {
        let data = base64url(part).into();
        let fields = [("offset", offset.into()), ("data", data)];
        let command = request("ota_data", fields);
        read("ota_data", self.command(command, OTA_PART_TIMEOUT).await?)
    }

    /// Says that all parts are sent: the pod checks the hash.
    ///
    /// # Errors
    /// [`PodError`].
    pub async fn ota_end(&self) -> Result<OtaProgress, PodError> {
        self.ask_typed("ota_end", []).await
    }

    /// Installs the verified image; returns the pod's words. After firmware, the pod restarts.
    ///
    /// # Errors
    /// [`PodError`].
    pub async fn ota_commit(&self) -> Result<Value, PodError> {
        self.ask("ota_commit", []).await
    }

    /// Abandons the update.
    ///
    /// # Errors
    /// [`PodError`].
    pub async fn ota_abort(&self) -> Result<OtaProgress, PodError> {
        self.ask_typed("ota_abort", []).await
    }

    /// The state of the update.
    ///
    /// # Errors
    /// [`PodError`].
    pub async fn ota_status(&self) -> Result<OtaProgress, PodError> {
        self.ask_typed("ota_status", []).await
    }
}
