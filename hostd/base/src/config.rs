//! Configuration: built-in defaults, then a TOML file, then environment, then flags.
//!
//! Every key stands in [`KEYS`], with the line of documentation that `hostd config keys` prints.
//! A key that is not there is an error with a suggestion, wherever it came from.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use toml::{Table, Value};

mod proxies;
mod sections;

pub use proxies::Proxies;
pub use sections::{
    AtQuota, AuthConfig, BuildsConfig, CapturesConfig, DeviceConfig, DiskConfig, HandlersConfig,
    HttpConfig, LeasesConfig, LogConfig, LogFormat, MetricsConfig, OidcConfig, PodsConfig,
    PowerOnRelease, StoreConfig, UploadsConfig, WaveformsConfig,
};

/// Prefix of environment variables: `http.listen` is `HOSTD_HTTP_LISTEN`.
const ENV_PREFIX: &str = "HOSTD_";

/// Variables with that prefix that are not configuration keys: what the command line and the build
/// read, and what clients of a server are told by it.
const ENV_OTHER: [&str; 5] = [
    "HOSTD_CONFIG",
    "HOSTD_HANDLERS",
    "HOSTD_URL",
    "HOSTD_KEY",
    "HOSTD_DEVICE",
];

/// Longest time a pod may be away without being offline.
const GRACE_MS_MAX: u64 = 600_000;

/// Pauses between pings that make sense: a client answers within its round trip.
const PING_MS: std::ops::RangeInclusive<u64> = 50..=600_000;

/// Waits for a client that takes nothing that make sense.
const SOCKET_WRITE_WAIT_MS: std::ops::RangeInclusive<u64> = 50..=600_000;

/// All keys of the configuration file, except the `[[devices]]` list.
pub const KEYS: &[(&str, &str)] = &[
    ("data_dir", "folder that holds everything hostd keeps"),
    (
        "http.listen",
        "address and port to listen on; port 0 picks a free one",
    ),
    (
        "http.connections_max",
        "open connections; for more, the idlest one is closed",
    ),
    (
        "http.connections_per_address_max",
        "of them those of one address (IPv6: /64); one of http.trusted_proxies may have all",
    ),
    (
        "http.connections_reserve",
        "more that are let in when all are busy, for health checks and valid credentials alone",
    ),
    ("http.head_bytes_max", "size of a request head in bytes"),
    (
        "http.head_wait_ms",
        "time for a request head to arrive; also ends idle connections",
    ),
    ("http.body_wait_ms", "time for a request body to arrive"),
    (
        "http.write_wait_ms",
        "time after which a client that takes nothing of an answer is cut off",
    ),
    ("http.drain_ms", "time that open requests get at shutdown"),
    (
        "http.rate_per_s",
        "requests per second that one key or sign-in may make; 0 is no limit",
    ),
    (
        "http.rate_burst",
        "requests that one key or sign-in may make at once",
    ),
    ("http.sockets_max", "WebSockets open at once"),
    (
        "http.ping_ms",
        "pause between pings of a WebSocket; a client that answers none of three is gone",
    ),
    (
        "http.socket_write_wait_ms",
        "time after which a client that takes nothing of a WebSocket is closed",
    ),
    (
        "http.trusted_proxies",
        "addresses and networks of proxies, with commas, whose X-Forwarded-For tells the client",
    ),
    ("log.format", "text or json"),
    (
        "log.level",
        "error, warn, info, debug or trace, or a filter such as info,pods=debug",
    ),
    ("store.cache_mib", "page cache of the database, in MiB"),
    (
        "metrics.token",
        "bearer token that /metrics asks for; empty leaves it open",
    ),
    ("auth.key_prefix", "first part of API keys"),
    (
        "oidc.issuer",
        "identity provider of CI runs, as its tokens name it",
    ),
    (
        "oidc.audience",
        "what the tokens of CI runs must be meant for",
    ),
    (
        "oidc.jwks",
        "URL or file of the identity provider's public keys",
    ),
    (
        "handlers.dir",
        "load handler components from this folder instead of the built-in ones",
    ),
    (
        "handlers.fresh",
        "give every request a fresh instance instead of a pooled one",
    ),
    (
        "handlers.calls_per_instance",
        "requests a pooled instance serves before it is replaced",
    ),
    (
        "handlers.in_flight_max",
        "requests inside one handler group at once; one user has at most two thirds, an organisation three quarters",
    ),
    (
        "handlers.queue_wait_ms",
        "wait for a free instance, or for one of the caller's share, before a request is refused with 503",
    ),
    (
        "handlers.deadline_ms",
        "time one request may take inside a handler",
    ),
    (
        "handlers.memory_mib",
        "linear memory one instance may grow to, in MiB",
    ),
    (
        "pods.grace_ms",
        "time a pod that lost its link may be away before its device counts as offline",
    ),
    ("captures.queue_max", "captures waiting for one device"),
    (
        "captures.samples_max",
        "samples of one capture, whatever the pod could do",
    ),
    (
        "captures.read_max",
        "captures being read, decoded or exported at once; half of them for one user",
    ),
    (
        "captures.quota_mib",
        "size of all captures of one organisation, in MiB",
    ),
    ("captures.count_max", "captures of one organisation"),
    (
        "captures.at_quota",
        "oldest or refuse: whether the oldest captures without a name give way, or new ones are refused",
    ),
    (
        "captures.keep_days",
        "days until a capture without a name is forgotten; 0 is no limit",
    ),
    (
        "disk.floor_mib",
        "free space below which captures and uploads are refused, in MiB; 0 is a tenth of the disk, at most 1024",
    ),
    (
        "disk.reserve_mib",
        "space laid by, in MiB, with which leases and sign-in go on when the disk is full",
    ),
    (
        "builds.artifact_mib_max",
        "size of one file of a build, in MiB, at most 2047",
    ),
    ("builds.log_mib_max", "size of one log of a build, in MiB"),
    (
        "builds.quota_mib",
        "size of all build files of one organisation, in MiB",
    ),
    (
        "builds.count_max",
        "builds of one organisation; the oldest ones with a result give way",
    ),
    ("builds.keep_days", "days until a build is forgotten"),
    ("builds.upload_wait_ms", "time for a file to arrive"),
    (
        "uploads.per_user_max",
        "files and bodies over 64 KiB of one user that arrive at once; further ones wait",
    ),
    (
        "uploads.per_org_max",
        "the same for all users of one organisation",
    ),
    ("uploads.total_max", "the same for everybody, at most 1024"),
    (
        "uploads.queue_wait_ms",
        "wait for one of those places before an upload is refused with 429 or 503",
    ),
    (
        "uploads.bytes_per_s_min",
        "rate below which a body is given up; 0 is no limit",
    ),
    (
        "uploads.grace_ms",
        "time over which that rate is looked at, 100 to 600000",
    ),
    (
        "waveforms.recording_mib_max",
        "size of one recording among the waveforms, in MiB, at most 256",
    ),
    (
        "waveforms.quota_mib",
        "size of all waveforms of one organisation, in MiB",
    ),
    ("waveforms.count_max", "waveforms of one organisation"),
    (
        "leases.power_on_release",
        "off or keep: target power when a lease ends",
    ),
];

/// The whole configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    pub data_dir: PathBuf,
    pub http: HttpConfig,
    pub log: LogConfig,
    pub store: StoreConfig,
    pub disk: DiskConfig,
    pub metrics: MetricsConfig,
    pub auth: AuthConfig,
    pub oidc: OidcConfig,
    pub handlers: HandlersConfig,
    pub pods: PodsConfig,
    pub captures: CapturesConfig,
    pub builds: BuildsConfig,
    pub uploads: UploadsConfig,
    pub waveforms: WaveformsConfig,
    pub leases: LeasesConfig,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<DeviceConfig>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            data_dir: "hostd-data".into(),
            http: HttpConfig::default(),
            log: LogConfig::default(),
            store: StoreConfig::default(),
            disk: DiskConfig::default(),
            metrics: MetricsConfig::default(),
            auth: AuthConfig::default(),
            oidc: OidcConfig::default(),
            handlers: HandlersConfig::default(),
            pods: PodsConfig::default(),
            captures: CapturesConfig::default(),
            builds: BuildsConfig::default(),
            uploads: UploadsConfig::default(),
            waveforms: WaveformsConfig::default(),
            leases: LeasesConfig::default(),
            devices: Vec::new(),
        }
    }
}

/// What is wrong with a configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("read {path}")]
    Read {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("parse {origin}: {message}")]
    Parse { origin: String, message: String },
    #[error("unknown key {key} in {origin}{hint}")]
    UnknownKey {
        key: String,
        origin: String,
        hint: String,
    },
    #[error("key {key}: {message}")]
    Value { key: String, message: String },
}

impl Config {
    /// Put the layers together: defaults, `file`, `env` (name and value), `flags` (key and value).
    ///
    /// # Errors
    /// An unreadable or malformed file, an unknown key, a value of the wrong type or out of range.
    pub fn load(
        file: Option<&Path>,
        env: impl Iterator<Item = (String, String)>,
        flags: &[(&str, String)],
    ) -> Result<Self, ConfigError> {
        let mut table = Table::new();
        if let Some(path) = file {
            let text = std::fs::read_to_string(path).map_err(|source| ConfigError::Read {
                path: path.to_owned(),
                source,
            })?;
            let origin = path.display().to_string();
            table = text
                .parse()
                .map_err(|e: toml::de::Error| ConfigError::Parse {
                    origin: origin.clone(),
                    message: e.to_string(),
                })?;
            check_keys(&table, "", &origin)?;
        }
        for (name, value) in env.filter(|(name, _)| name.starts_with(ENV_PREFIX)) {
            if ENV_OTHER.contains(&name.as_str()) {
                continue;
            }
            let key = KEYS
                .iter()
                .map(|(key, _)| *key)
                .find(|key| env_name(key) == name)
                .ok_or_else(|| {
                    unknown(
                        &name,
                        "the environment",
                        KEYS.iter().map(|(k, _)| env_name(k)),
                    )
                })?;
            put(&mut table, key, &value);
        }
        for (key, value) in flags {
            put(&mut table, key, value);
        }
        let config: Self = Value::Table(table)
            .try_into()
            .map_err(|e: toml::de::Error| ConfigError::Parse {
                origin: "the configuration".into(),
                message: e.to_string(),
            })?;
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result<(), ConfigError> {
        let bad = |key: &str, message: &str| {
            Err(ConfigError::Value {
                key: key.into(),
                message: message.into(),
            })
        };
        let prefix = &self.auth.key_prefix;
        if !(1..=16).contains(&prefix.len()) || !prefix.bytes().all(|b| b.is_ascii_alphanumeric()) {
            return bad("auth.key_prefix", "must be 1 to 16 letters and digits");
        }
        if !(8 << 10..=1 << 20).contains(&self.http.head_bytes_max) {
            return bad("http.head_bytes_max", "must be 8192 to 1048576");
        }
        if !PING_MS.contains(&self.http.ping_ms) {
            return bad("http.ping_ms", "must be 50 to 600000");
        }
        if !SOCKET_WRITE_WAIT_MS.contains(&self.http.socket_write_wait_ms) {
            return bad("http.socket_write_wait_ms", "must be 50 to 600000");
        }
        if let Err(e) = Proxies::parse(&self.http.trusted_proxies) {
            return bad("http.trusted_proxies", &e);
        }
        if self.handlers.in_flight_max == 0 || self.handlers.in_flight_max > 64 {
            return bad("handlers.in_flight_max", "must be 1 to 64");
        }
        if !(1..=256).contains(&self.handlers.memory_mib) {
            return bad("handlers.memory_mib", "must be 1 to 256");
        }
        if self.pods.grace_ms > GRACE_MS_MAX {
            return bad("pods.grace_ms", "must be at most 600000");
        }
        if self.captures.read_max == 0 {
            return bad("captures.read_max", "must be at least 1");
        }
        if self.captures.count_max == 0 {
            return bad("captures.count_max", "must be at least 1");
        }
        if !(1..=2047).contains(&self.builds.artifact_mib_max) {
            return bad("builds.artifact_mib_max", "must be 1 to 2047");
        }
        if self.builds.count_max == 0 {
            return bad("builds.count_max", "must be at least 1");
        }
        self.uploads
            .check()
            .or_else(|(key, message)| bad(key, message))?;
        if !(1..=256).contains(&self.waveforms.recording_mib_max) {
            return bad("waveforms.recording_mib_max", "must be 1 to 256");
        }
        Ok(())
    }

    /// Check the addresses of the devices with `usable`, which knows the ways to reach a pod and says
    /// what is wrong with an address.
    ///
    /// # Errors
    /// The first address that cannot be used.
    pub fn check_addresses<E: fmt::Display>(
        &self,
        usable: impl Fn(&str) -> Result<(), E>,
    ) -> Result<(), ConfigError> {
        for (i, device) in self.devices.iter().enumerate() {
            usable(&device.address).map_err(|error| ConfigError::Value {
                key: format!("devices[{i}].address"),
                message: error.to_string(),
            })?;
        }
        Ok(())
    }
}

/// What a key is when nothing sets it, as a configuration file has it.
///
/// # Panics
/// The defaults lack a key of [`KEYS`].
#[must_use]
pub fn default_text(key: &str) -> String {
    let defaults = Table::try_from(Config::default()).expect("the defaults are a table");
    let mut value = &Value::Table(defaults);
    for part in key.split('.') {
        value = value.get(part).expect("every key has a default");
    }
    value.to_string()
}

/// Name of the environment variable for a key.
#[must_use]
pub fn env_name(key: &str) -> String {
    format!("{ENV_PREFIX}{}", key.replace('.', "_").to_uppercase())
}

fn check_keys(table: &Table, prefix: &str, origin: &str) -> Result<(), ConfigError> {
    for (name, value) in table {
        let key = format!("{prefix}{name}");
        // The entries of the device list are checked by their own type.
        if key == "devices" {
            continue;
        }
        let section = format!("{key}.");
        let is_section = KEYS.iter().any(|(k, _)| k.starts_with(&section));
        match value {
            Value::Table(inner) if is_section => check_keys(inner, &section, origin)?,
            _ if KEYS.iter().any(|(k, _)| *k == key) => {}
            _ => {
                return Err(unknown(
                    &key,
                    origin,
                    KEYS.iter().map(|(k, _)| (*k).to_owned()),
                ));
            }
        }
    }
    Ok(())
}

fn unknown(key: &str, origin: &str, known: impl Iterator<Item = String>) -> ConfigError {
    let best =
        known.max_by(|a, b| strsim::jaro_winkler(key, a).total_cmp(&strsim::jaro_winkler(key, b)));
    ConfigError::UnknownKey {
        key: key.into(),
        origin: origin.into(),
        hint: best.map_or_else(String::new, |best| format!("; did you mean {best}?")),
    }
}

/// Set `key` to `text`, read as a TOML value where it is one (numbers, booleans), else as a string.
fn put(table: &mut Table, key: &str, text: &str) {
    let value = match text.parse::<Value>() {
        Ok(value @ (Value::Integer(_) | Value::Boolean(_))) => value,
        _ => Value::String(text.into()),
    };
    let mut at = table;
    let mut parts = key.split('.').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            at.insert(part.into(), value);
            return;
        }
        let next = at.entry(part).or_insert_with(|| Value::Table(Table::new()));
        if !next.is_table() {
            *next = Value::Table(Table::new());
        }
        at = next.as_table_mut().expect("made a table just above");
    }
}

#[cfg(test)]
mod tests;
