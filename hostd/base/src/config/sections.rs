//! The sections of the configuration and their defaults. The meaning of each key is in
//! [`KEYS`](super::KEYS).

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

mod emi;
mod jobs;
mod notices;
mod parts;
mod plugins;

pub use emi::EmiConfig;
pub use jobs::{EVERY_ORG, JobNetwork, JobsConfig};
pub(super) use notices::is_public_url;
pub use notices::{BadgesConfig, CommitStatusConfig, Provider, WebhooksConfig};
pub use parts::{
    AnalogPart, GpioLine, LogicPart, Parity, PowerPart, ProbePart, ScpiDialect, UartPart,
};
pub use plugins::PluginsConfig;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HttpConfig {
    pub listen: String,
    pub connections_max: u32,
    pub connections_per_address_max: u32,
    pub connections_reserve: u32,
    pub head_bytes_max: u32,
    pub head_wait_ms: u64,
    pub body_wait_ms: u64,
    pub write_wait_ms: u64,
    pub drain_ms: u64,
    pub rate_per_s: u32,
    pub rate_burst: u32,
    pub sockets_max: u32,
    pub event_streams_max: u32,
    pub ping_ms: u64,
    pub socket_write_wait_ms: u64,
    /// Addresses and networks, with commas.
    pub trusted_proxies: String,
    /// Empty = nobody knows.
    pub public_url: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    Text,
    Json,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogConfig {
    pub format: LogFormat,
    pub level: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StoreConfig {
    pub cache_mib: u32,
}

/// How long a browser stays signed in that is to remember its user, in days, unless the configuration says otherwise.
pub const REMEMBER_DAYS: u32 = 30;

/// Longest such time, in days.
const REMEMBER_DAYS_MAX: u32 = 90;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AuthConfig {
    pub key_prefix: String,
    pub remember_days: u32,
}

#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MetricsConfig {
    /// Empty = `/metrics` is open.
    #[serde(serialize_with = "redacted")]
    pub token: String,
}

impl std::fmt::Debug for MetricsConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MetricsConfig")
    }
}

/// A secret is read from the configuration and never printed with it.
fn redacted<S: serde::Serializer>(secret: &str, serializer: S) -> Result<S::Ok, S::Error> {
    let shown = if secret.is_empty() { "" } else { "[redacted]" };
    serializer.serialize_str(shown)
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HandlersConfig {
    /// Empty = the built-in components.
    pub dir: PathBuf,
    pub fresh: bool,
    pub calls_per_instance: u32,
    pub in_flight_max: u32,
    pub queue_wait_ms: u64,
    pub deadline_ms: u64,
    pub memory_mib: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PodsConfig {
    pub grace_ms: u64,
    pub usb: UsbPolicy,
    /// With commas. Empty = the host of `http.public_url`.
    pub dial_hosts: String,
}

/// What happens to a pod that is plugged into USB and that no `[[devices]]` entry means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UsbPolicy {
    /// Nothing.
    Listed,
    /// It becomes a device.
    All,
    /// It becomes a device once an administrator admits it.
    Ask,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CapturesConfig {
    pub queue_max: u32,
    pub samples_max: u64,
    pub read_max: u32,
    pub quota_mib: u32,
    pub count_max: u32,
    pub at_quota: AtQuota,
    pub keep_days: u32,
    /// A file or a folder; empty = none.
    pub registers: PathBuf,
    /// A path, or a name on the search path; empty = none.
    pub sigrok: PathBuf,
    pub sigrok_s_max: u32,
    pub sigrok_mib_max: u32,
}

/// What happens to something new when an organisation's quota is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AtQuota {
    /// The oldest of its kind are deleted: captures without a name, jobs that are over.
    Oldest,
    /// The new one is refused.
    Refuse,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DiskConfig {
    /// 0 = a tenth of the disk, at most 1024.
    pub floor_mib: u32,
    pub(crate) reserve_mib: u32,
}

impl Default for DiskConfig {
    fn default() -> Self {
        Self {
            floor_mib: 0,
            reserve_mib: 16,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BuildsConfig {
    pub artifact_mib_max: u32,
    pub log_mib_max: u32,
    pub quota_mib: u32,
    pub count_max: u32,
    pub keep_days: u32,
    pub upload_wait_ms: u64,
}

impl Default for BuildsConfig {
    fn default() -> Self {
        Self {
            artifact_mib_max: 64,
            log_mib_max: 16,
            quota_mib: 4096,
            count_max: 1000,
            keep_days: 30,
            upload_wait_ms: 120_000,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UploadsConfig {
    pub per_user_max: u32,
    pub per_org_max: u32,
    pub total_max: u32,
    pub queue_wait_ms: u64,
    pub bytes_per_s_min: u32,
    pub grace_ms: u64,
}

impl Default for UploadsConfig {
    fn default() -> Self {
        Self {
            per_user_max: 16,
            per_org_max: 48,
            total_max: 64,
            queue_wait_ms: 5_000,
            bytes_per_s_min: 4096,
            grace_ms: 10_000,
        }
    }
}

impl UploadsConfig {
    /// The first invalid key, and its rule.
    pub(super) fn check(&self) -> Result<(), (&'static str, &'static str)> {
        for (key, value) in [
            ("uploads.per_user_max", self.per_user_max),
            ("uploads.per_org_max", self.per_org_max),
            ("uploads.total_max", self.total_max),
        ] {
            if !(1..=1024).contains(&value) {
                return Err((key, "must be 1 to 1024"));
            }
        }
        if !(100..=600_000).contains(&self.grace_ms) {
            return Err(("uploads.grace_ms", "must be 100 to 600000"));
        }
        Ok(())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WaveformsConfig {
    pub recording_mib_max: u32,
    pub quota_mib: u32,
    pub count_max: u32,
}

impl Default for WaveformsConfig {
    fn default() -> Self {
        Self {
            recording_mib_max: 64,
            quota_mib: 1024,
            count_max: 1000,
        }
    }
}

/// What happens to a device's target power when a lease ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PowerOnRelease {
    /// Both rails are switched off.
    Off,
    /// The rails stay as the holder left them.
    Keep,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OidcConfig {
    pub issuer: String,
    pub audience: String,
    /// URL or path.
    pub jwks: String,
}

impl Default for OidcConfig {
    fn default() -> Self {
        Self {
            issuer: "https://token.actions.githubusercontent.com".into(),
            // What published clients request from their provider.
            audience: "https://embeddedci.com".into(),
            jwks: "https://token.actions.githubusercontent.com/.well-known/jwks".into(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LeasesConfig {
    pub power_on_release: PowerOnRelease,
}

/// One `[[devices]]` entry: a pod, or a bench of parts, that hostd drives from the start.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceConfig {
    /// Name it gets when it is first seen; a later rename is kept.
    pub name: String,
    /// How to reach it: `tcp:host[:port]`, `tls:host[:port][,sha256=<hex>]` over TLS with the fingerprint of
    /// its certificate (without one, the first that it shows is pinned), `usb` for any pod on USB,
    /// `usb:serial=…`, `usb:port=…` as `hostd device scan` shows them, `sim:…` for the simulator in this process, or
    /// `parts` for what the tables below name.
    pub address: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<ProbePart>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uart: Option<UartPart>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<PowerPart>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logic: Option<LogicPart>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub analog: Option<AnalogPart>,
}

impl Default for LeasesConfig {
    fn default() -> Self {
        Self {
            power_on_release: PowerOnRelease::Off,
        }
    }
}

impl Default for HttpConfig {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:8800".into(),
            connections_max: 1024,
            connections_per_address_max: 512,
            connections_reserve: 32,
            head_bytes_max: 32 << 10,
            head_wait_ms: 60_000,
            body_wait_ms: 30_000,
            write_wait_ms: 60_000,
            drain_ms: 5_000,
            rate_per_s: 1000,
            rate_burst: 2000,
            sockets_max: 256,
            event_streams_max: 256,
            ping_ms: 20_000,
            socket_write_wait_ms: 30_000,
            trusted_proxies: String::new(),
            public_url: String::new(),
        }
    }
}

/// Whether a server can listen there: a name or an address, in brackets if it has colons, and a port.
pub(super) fn is_listen_address(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else {
        return false;
    };
    let is_bracketed = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
        .is_some_and(|host| host.parse::<std::net::Ipv6Addr>().is_ok());
    let is_plain = !host.is_empty() && !host.contains([':', '[', ']', ' ']);
    (is_bracketed || is_plain) && port.parse::<u16>().is_ok()
}

impl Default for LogConfig {
    fn default() -> Self {
        Self {
            format: LogFormat::Text,
            level: "info".into(),
        }
    }
}

impl Default for StoreConfig {
    fn default() -> Self {
        Self { cache_mib: 16 }
    }
}

impl Default for AuthConfig {
    fn default() -> Self {
        Self {
            key_prefix: "bk".into(),
            remember_days: REMEMBER_DAYS,
        }
    }
}

impl AuthConfig {
    /// The key of a value that cannot be used, and the rule.
    pub(super) fn check(&self) -> Result<(), (&'static str, String)> {
        let prefix = &self.key_prefix;
        if !(1..=16).contains(&prefix.len()) || !prefix.bytes().all(|b| b.is_ascii_alphanumeric()) {
            let rule = "must be 1 to 16 letters and digits".to_owned();
            return Err(("auth.key_prefix", rule));
        }
        if !(1..=REMEMBER_DAYS_MAX).contains(&self.remember_days) {
            let rule = format!("must be 1 to {REMEMBER_DAYS_MAX}");
            return Err(("auth.remember_days", rule));
        }
        Ok(())
    }
}

impl Default for HandlersConfig {
    fn default() -> Self {
        Self {
            dir: PathBuf::new(),
            fresh: false,
            calls_per_instance: 1000,
            in_flight_max: 48,
            queue_wait_ms: 2_000,
            deadline_ms: 150_000,
            memory_mib: 64,
        }
    }
}

impl Default for PodsConfig {
    fn default() -> Self {
        Self {
            grace_ms: 10_000,
            usb: UsbPolicy::Listed,
            dial_hosts: String::new(),
        }
    }
}

impl CapturesConfig {
    /// The key that is wrong, and what it must be.
    pub(super) fn check(&self) -> Result<(), (&'static str, &'static str)> {
        if self.read_max == 0 {
            return Err(("captures.read_max", "must be at least 1"));
        }
        if self.count_max == 0 {
            return Err(("captures.count_max", "must be at least 1"));
        }
        if !(1..=3600).contains(&self.sigrok_s_max) {
            return Err(("captures.sigrok_s_max", "must be 1 to 3600"));
        }
        if !(64..=16_384).contains(&self.sigrok_mib_max) {
            return Err(("captures.sigrok_mib_max", "must be 64 to 16384"));
        }
        Ok(())
    }
}

impl Default for CapturesConfig {
    fn default() -> Self {
        Self {
            queue_max: 8,
            samples_max: 16 << 20,
            read_max: 4,
            quota_mib: 10_240,
            count_max: 10_000,
            at_quota: AtQuota::Oldest,
            keep_days: 0,
            registers: PathBuf::new(),
            sigrok: "sigrok-cli".into(),
            sigrok_s_max: 120,
            sigrok_mib_max: 1024,
        }
    }
}
