//! The connection to a cloud: host, registration, proxy, company CA. Whoever dials for the pod tells how far it got; a
//! pod for which nobody does never reaches one.

use serde_json::{Value, json};

use super::{Settings, not_from_lan};
use crate::access::Peer;
use crate::args::Args;
use crate::refuse::Refuse;

/// Longest name of a host, a device or a user, in bytes.
const NAME_BYTES_MAX: usize = 128;

/// Port of a cloud if the address has none.
const DEFAULT_PORT: u16 = 443;

/// Time until an attempt to connect is given up, in nanoseconds.
const CONNECT_NS: u64 = 12_000_000_000;

/// A server to dial in to, and the device that the pod is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dial {
    /// Its name or address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Whether it speaks TLS, as it must for real pods.
    pub tls: bool,
    /// Id of the device.
    pub device_id: String,
}

/// The address of the cloud.
#[derive(Debug)]
pub(super) struct Cloud {
    dial: Dial,
    enabled: bool,
    since_ns: u64,
    /// What whoever dials tells.
    link: Option<CloudLink>,
}

/// How far the link to the cloud is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CloudLink {
    Connecting,
    Connected,
    /// The last attempt failed, and why.
    Backoff(String),
}

impl Cloud {
    pub(super) fn reconnect(&mut self, now_ns: u64) {
        self.since_ns = now_ns;
    }
}

impl Settings {
    /// Whom to dial, and how often that was set.
    pub(crate) fn dial(&self) -> (u64, Option<Dial>) {
        let cloud = self.cloud.as_ref().filter(|cloud| cloud.enabled);
        (self.cloud_sets, cloud.map(|cloud| cloud.dial.clone()))
    }

    pub(crate) fn set_dial(&mut self, dial: Dial, enabled: bool, now_ns: u64) {
        self.cloud_sets += 1;
        self.cloud = Some(Cloud {
            dial,
            enabled,
            since_ns: now_ns,
            link: None,
        });
    }

    /// Whoever dials has got so far with what was set at that time.
    pub(crate) fn set_cloud_link(&mut self, sets: u64, link: CloudLink) {
        if let Some(cloud) = self.cloud.as_mut().filter(|_| self.cloud_sets == sets) {
            cloud.link = Some(link);
        }
    }
}

/// The proxy of a company's network.
#[derive(Debug)]
pub(super) struct Proxy {
    host: String,
    port: u16,
    auth: bool,
}

/// A text that must not be empty or contain blanks.
fn name(args: &Args<'_>, field: &'static str) -> Result<Option<String>, Refuse> {
    let Some(text) = args.text(field)? else {
        return Ok(None);
    };
    let fits = (1..=NAME_BYTES_MAX).contains(&text.len());
    if !fits || text.contains(|letter: char| letter.is_whitespace() || letter.is_control()) {
        return Err(Refuse::Bad {
            field,
            want: "1 to 128 bytes without blanks",
        });
    }
    Ok(Some(text.to_owned()))
}

/// `cloud_status`.
pub(crate) fn cloud_status(settings: &Settings, now_ns: u64) -> Value {
    let Some(cloud) = &settings.cloud else {
        return json!({"configured": false, "state": "disabled", "device_id": "",
            "last_error": "", "host": "", "port": 0, "tls": true, "verify": true});
    };
    let (state, error) = match &cloud.link {
        _ if !cloud.enabled => ("disabled", ""),
        Some(CloudLink::Connecting) => ("connecting", ""),
        Some(CloudLink::Connected) => ("connected", ""),
        Some(CloudLink::Backoff(error)) => ("backoff", error.as_str()),
        None if now_ns < cloud.since_ns + CONNECT_NS => ("connecting", ""),
        None => ("backoff", "connect timeout"),
    };
    let Dial {
        host,
        port,
        tls,
        device_id,
    } = &cloud.dial;
    json!({"configured": true, "state": state, "device_id": device_id, "last_error": error,
        "host": host, "port": port, "tls": tls, "verify": true})
}

/// `cloud_set`.
pub(crate) fn cloud_set(
    settings: &mut Settings,
    args: &Args<'_>,
    now_ns: u64,
) -> Result<Value, Refuse> {
    let host = name(args, "host")?.ok_or(Refuse::Missing { field: "host" })?;
    let device_id = name(args, "device_id")?.ok_or(Refuse::Missing { field: "device_id" })?;
    let port = args.uint("port", 1..=i64::from(u16::MAX))?;
    let enabled = args.flag("enabled")?;
    if args.flag("tls")? == Some(false) {
        return Err(Refuse::PlainCloud);
    }
    let dial = Dial {
        host,
        port: port.unwrap_or(DEFAULT_PORT),
        tls: true,
        device_id,
    };
    settings.set_dial(dial, enabled.unwrap_or(true), now_ns);
    Ok(cloud_status(settings, now_ns))
}

/// `cloud_clear`.
pub(crate) fn cloud_clear(settings: &mut Settings) -> Value {
    settings.cloud = None;
    settings.cloud_sets += 1;
    json!("cleared")
}

/// `cloud_ca`.
pub(crate) fn cloud_ca(
    settings: &mut Settings,
    args: &Args<'_>,
    peer: Peer,
) -> Result<Value, Refuse> {
    if args.flag("clear")? == Some(true) {
        not_from_lan(peer, "cloud_ca")?;
        settings.ca.clear();
    }
    let installed = settings.ca.iter();
    let certs: Vec<Value> = installed
        .map(|one| json!({"subject": one.subject, "sha256": one.sha256}))
        .collect();
    Ok(json!({"present": !certs.is_empty(), "certs": certs}))
}

/// `cloud_proxy`.
pub(crate) fn cloud_proxy(
    settings: &mut Settings,
    args: &Args<'_>,
    peer: Peer,
) -> Result<Value, Refuse> {
    let set = args.text("set")?;
    let clear = args.flag("clear")? == Some(true);
    let auth = name(args, "user")?.is_some();
    args.text("password")?;
    if set.is_some() || clear {
        not_from_lan(peer, "cloud_proxy")?;
    }
    if clear {
        settings.proxy = None;
    }
    if let Some(address) = set {
        let bad = Refuse::Bad {
            field: "set",
            want: "host:port",
        };
        let (host, port) = address.rsplit_once(':').ok_or(bad.clone())?;
        let fits = (1..=NAME_BYTES_MAX).contains(&host.len());
        let port: u16 = port.parse().map_err(|_| bad.clone())?;
        if !fits || port == 0 || host.contains(char::is_whitespace) {
            return Err(bad);
        }
        settings.proxy = Some(Proxy {
            host: host.to_owned(),
            port,
            auth,
        });
    }
    Ok(match &settings.proxy {
        Some(proxy) => json!({"host": proxy.host, "port": proxy.port, "auth": proxy.auth}),
        None => json!({}),
    })
}
