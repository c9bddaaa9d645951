//! The settings that a simulated pod stores: like flash, they survive restarts. Where a connection
//! comes from decides which of them it may change.

use serde_json::{Value, json};

mod cloud;
mod network;
mod policy;

pub use cloud::Dial;
pub(crate) use cloud::{CloudLink, cloud_ca, cloud_clear, cloud_proxy, cloud_set, cloud_status};
pub(crate) use network::{eth, lan_tls, usb_network, wifi_clear, wifi_set, wifi_status};
pub(crate) use policy::{LanPolicy, SigPolicy, lan_policy, sig_policy};

use super::access::{Origin, Peer};
use super::certificate::Facts;
use super::images::{Blobs, FirmwareImage};
use super::refuse::Refuse;
use super::tls::Lan;

/// The settings.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    pub(crate) lan: LanPolicy,
    pub(crate) sig: SigPolicy,
    /// The plaintext port accepts no commands.
    pub(crate) https_only: bool,
    /// Company CA for the cloud's certificate.
    pub(crate) ca: Vec<Facts>,
    pub(crate) tls: Lan,
    pub(crate) blobs: Blobs,
    /// Written, and used from the next start on.
    pub(crate) next_firmware: Option<FirmwareImage>,
    cloud: Option<cloud::Cloud>,
    /// How often the cloud was set or cleared.
    cloud_sets: u64,
    proxy: Option<cloud::Proxy>,
    wifi: Option<network::Wifi>,
    eth: network::Ethernet,
    usb_off: bool,
}

impl Settings {
    /// The fields of `status` about the settings.
    pub(crate) fn status(&self, sig_keys: usize, now_ns: u64) -> Vec<(&'static str, Value)> {
        let known = [
            "ota_sig",
            "sig_policy_cmd",
            "lan_policy_cmd",
            "tunnel_max_tier",
            "lease_state",
            "cloud_ca",
            "cloud_proxy",
            "blob_slots",
        ];
        let mut fields: Vec<_> = known.map(|name| (name, json!(true))).into();
        let cloud = cloud::cloud_status(self, now_ns);
        let wifi = network::wifi_status(self, now_ns);
        fields.extend([
            ("sig_policy", json!(self.sig.word())),
            ("sig_keys", json!(sig_keys)),
            ("lan_policy", json!(self.lan.word())),
            ("cloud", cloud["state"].clone()),
            ("wifi", wifi["state"].clone()),
        ]);
        fields
    }

    /// After a restart the pod joins its networks again.
    pub(crate) fn reboot(&mut self, now_ns: u64) {
        if let Some(cloud) = &mut self.cloud {
            cloud.reconnect(now_ns);
        }
        if let Some(wifi) = &mut self.wifi {
            wifi.reconnect(now_ns);
        }
    }
}

/// Where a setting can be changed instead. Clients recognise these words.
const NOT_FROM_LAN: &str = "from the cloud or the USB console";
const NOT_FROM_LAN_CLOUD: &str = "from the cloud or over USB";
const ONLY_SECURE: &str = "over TLS (port 8443), over USB or from the cloud";
const ONLY_USB: &str = "on the device";

/// Refuses a change from the LAN.
pub(crate) fn not_from_lan(peer: Peer, command: &'static str) -> Result<(), Refuse> {
    if peer.origin.is_lan() {
        let how = NOT_FROM_LAN_CLOUD;
        return Err(Refuse::Elsewhere { command, how });
    }
    Ok(())
}

/// Refuses a change over a link on which anyone could listen.
pub(crate) fn only_secure(peer: Peer, command: &'static str) -> Result<(), Refuse> {
    if peer.origin == Origin::Lan {
        let how = ONLY_SECURE;
        return Err(Refuse::Elsewhere { command, how });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
