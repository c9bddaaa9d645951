//! Configuration: built-in defaults, then a TOML file, then environment, then flags.
//!
//! Every key is in [`KEYS`], with the line of documentation that `hostd config keys` prints. An
//! unknown key is an error with a suggestion, wherever it came from.

use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::logging;

mod keys;
mod networks;
mod proxies;
mod sections;

pub use keys::{KEYS, LISTS, default_text, env_name};
pub use networks::Networks;
pub use proxies::Proxies;
pub use sections::{
    AnalogPart, AtQuota, AuthConfig, BadgesConfig, BuildsConfig, CapturesConfig,
    CommitStatusConfig, DeviceConfig, DiskConfig, EVERY_ORG, EmiConfig, GpioLine, HandlersConfig,
    HttpConfig, JobNetwork, JobsConfig, LeasesConfig, LogConfig, LogFormat, LogicPart,
    MetricsConfig, OidcConfig, Parity, PluginsConfig, PodsConfig, PowerOnRelease, PowerPart,
    ProbePart, Provider, REMEMBER_DAYS, ScpiDialect, StoreConfig, UartPart, UploadsConfig,
    UsbPolicy, WaveformsConfig, WebhooksConfig,
};

/// Variables with that prefix that are not configuration keys: those that the command line, the
/// build and clients of a server read.
const ENV_OTHER: [&str; 7] = [
    "HOSTD_BUILD_CACHE",
    "HOSTD_CA",
    "HOSTD_CONFIG",
    "HOSTD_HANDLERS",
    "HOSTD_URL",
    "HOSTD_KEY",
    "HOSTD_DEVICE",
];

/// Longest time a pod may be away before it counts as offline.
const GRACE_MS_MAX: u64 = 600_000;

/// Sensible pauses between pings: a client answers within a round trip.
const PING_MS: std::ops::RangeInclusive<u64> = 50..=600_000;

/// Sensible waits for a client that reads nothing.
const SOCKET_WRITE_WAIT_MS: std::ops::RangeInclusive<u64> = 50..=600_000;

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
    pub jobs: JobsConfig,
    pub uploads: UploadsConfig,
    pub waveforms: WaveformsConfig,
    pub leases: LeasesConfig,
    pub webhooks: WebhooksConfig,
    pub badges: BadgesConfig,
    pub plugins: PluginsConfig,
    pub emi: EmiConfig,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commit_status: Vec<CommitStatusConfig>,
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
            jobs: JobsConfig::default(),
            uploads: UploadsConfig::default(),
            waveforms: WaveformsConfig::default(),
            leases: LeasesConfig::default(),
            webhooks: WebhooksConfig::default(),
            badges: BadgesConfig::default(),
            plugins: PluginsConfig::default(),
            emi: EmiConfig::default(),
            commit_status: Vec::new(),
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
    /// Merge the layers: defaults, `file`, `env` (name and value), `flags` (key and value).
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
            keys::check(&table, "", &origin)?;
            // By itself first: only here it is known where in the file a value is.
            toml::from_str::<Self>(&text).map_err(|e| ConfigError::Parse {
                origin,
                message: e.to_string(),
            })?;
        }
        for (name, value) in env.filter(|(name, _)| name.starts_with(keys::ENV_PREFIX)) {
            if !ENV_OTHER.contains(&name.as_str()) {
                put(&mut table, keys::of_variable(&name)?, &value);
            }
        }
        for (key, value) in flags {
            put(&mut table, key, value);
        }
        let mut config: Self = Value::Table(table)
            .try_into()
            .map_err(|e: toml::de::Error| ConfigError::Parse {
                origin: "the configuration".into(),
                message: e.to_string(),
            })?;
        config.check()?;
        config.devices.iter_mut().for_each(DeviceConfig::name_parts);
        Ok(config)
    }

    fn check(&self) -> Result<(), ConfigError> {
        let bad = |key: &str, message: &str| {
            Err(ConfigError::Value {
                key: key.into(),
                message: message.into(),
            })
        };
        self.check_texts()?;
        self.auth
            .check()
            .or_else(|(key, message)| bad(key, &message))?;
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
        self.captures
            .check()
            .or_else(|(key, message)| bad(key, message))?;
        if !(1..=2047).contains(&self.builds.artifact_mib_max) {
            return bad("builds.artifact_mib_max", "must be 1 to 2047");
        }
        if self.builds.count_max == 0 {
            return bad("builds.count_max", "must be at least 1");
        }
        self.jobs
            .check()
            .or_else(|(key, message)| bad(key, message))?;
        self.uploads
            .check()
            .or_else(|(key, message)| bad(key, message))?;
        self.check_notices()?;
        self.check_devices()?;
        if !(1..=256).contains(&self.waveforms.recording_mib_max) {
            return bad("waveforms.recording_mib_max", "must be 1 to 256");
        }
        Ok(())
    }

    fn check_texts(&self) -> Result<(), ConfigError> {
        let bad = |key: &str, message: String| {
            let key = key.to_owned();
            Err(ConfigError::Value { key, message })
        };
        if !sections::is_listen_address(&self.http.listen) {
            let rule = "must be an address and a port, such as 127.0.0.1:8800 or [::]:8800";
            return bad("http.listen", rule.to_owned());
        }
        if let Err(error) = logging::filter(&self.log.level) {
            let rule = format!("must be a level, or a filter such as info,pods=debug: {error}");
            return bad("log.level", rule);
        }
        Ok(())
    }

    fn check_devices(&self) -> Result<(), ConfigError> {
        for (i, device) in self.devices.iter().enumerate() {
            let bad = |(key, message): (&str, String)| ConfigError::Value {
                key: format!("devices[{i}].{key}"),
                message,
            };
            let mut before = self.devices[..i].iter();
            if before.any(|other| other.name == device.name) {
                let rule = format!("{} is the name of another entry, too", device.name);
                return Err(bad(("name", rule)));
            }
            device.check().map_err(bad)?;
        }
        Ok(())
    }

    fn check_notices(&self) -> Result<(), ConfigError> {
        let bad = |key: String, message: &str| {
            let message = message.to_owned();
            Err(ConfigError::Value { key, message })
        };
        self.webhooks
            .check()
            .or_else(|(key, message)| bad(key.to_owned(), &message))?;
        self.badges
            .check()
            .or_else(|(key, message)| bad(key.to_owned(), &message))?;
        self.plugins
            .check()
            .or_else(|(key, message)| bad(key.to_owned(), &message))?;
        self.emi
            .check()
            .or_else(|(key, message)| bad(key.to_owned(), &message))?;
        if self.emi.local && !self.is_reached_directly() {
            let rule = "takes an http.listen on a loopback address, and neither http.public_url nor http.trusted_proxies: \
                        whoever comes through a proxy would be let in";
            return bad("emi.local".to_owned(), rule);
        }
        for (i, status) in self.commit_status.iter().enumerate() {
            status
                .check()
                .or_else(|(key, message)| bad(format!("commit_status[{i}].{key}"), message))?;
        }
        if !sections::is_public_url(&self.http.public_url) {
            let rule =
                "must be empty, or begin with http:// or https:// and have no space, user or query";
            return bad("http.public_url".to_owned(), rule);
        }
        Ok(())
    }

    /// Whether nobody but programs of this computer reaches the server, as far as the configuration tells.
    fn is_reached_directly(&self) -> bool {
        let http = &self.http;
        let host = http.listen.rsplit_once(':').map_or("", |(host, _)| host);
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let is_loopback = host == "localhost"
            || host
                .parse()
                .is_ok_and(|address: IpAddr| address.is_loopback());
        is_loopback && http.public_url.is_empty() && http.trusted_proxies.is_empty()
    }

    /// Check the names of the devices with `usable`, which says what is wrong with one.
    ///
    /// # Errors
    /// Names the first name that cannot be used.
    pub fn check_names<E: fmt::Display>(
        &self,
        usable: impl Fn(&str) -> Result<(), E>,
    ) -> Result<(), ConfigError> {
        for (i, device) in self.devices.iter().enumerate() {
            usable(&device.name).map_err(|error| ConfigError::Value {
                key: format!("devices[{i}].name"),
                message: error.to_string(),
            })?;
        }
        Ok(())
    }

    /// Check the devices with `usable`, which knows the ways to reach a pod and says what is wrong with an address.
    ///
    /// # Errors
    /// Names the first address that cannot be used.
    pub fn check_addresses<E: fmt::Display>(
        &self,
        usable: impl Fn(&DeviceConfig) -> Result<(), E>,
    ) -> Result<(), ConfigError> {
        for (i, device) in self.devices.iter().enumerate() {
            usable(device).map_err(|error| ConfigError::Value {
                key: format!("devices[{i}].address"),
                message: error.to_string(),
            })?;
        }
        Ok(())
    }
}

/// Set `key` to `text`, read as a TOML value if it is one (numbers, booleans), otherwise as a
/// string.
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
