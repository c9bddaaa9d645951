//! The pod's own links: Wi-Fi, Ethernet, and the network adapter on its USB port.

use serde_json::{Value, json};

use super::{ONLY_USB, Settings, only_secure};
use crate::access::{Origin, Peer};
use crate::args::Args;
use crate::config::SimConfig;
use crate::refuse::Refuse;
use crate::tls::LanCertificate;

/// Longest name of a wireless network, in bytes.
const SSID_BYTES_MAX: usize = 32;

/// Allowed lengths of a wireless password, in bytes.
const PASSWORD_BYTES: std::ops::RangeInclusive<usize> = 8..=63;

/// How long the pod takes to join the simulated wireless network, in nanoseconds.
const JOIN_NS: u64 = 2_000_000_000;

/// Maximum number of frames in one loopback test.
const LOOPBACK_MAX: i64 = 1000;

/// A wireless network. The password is accepted, but cannot be read back.
#[derive(Debug)]
pub(super) struct Wifi {
    ssid: String,
    since_ns: u64,
}

impl Wifi {
    pub(super) fn reconnect(&mut self, now_ns: u64) {
        self.since_ns = now_ns;
    }
}

/// The wired link.
#[derive(Debug)]
pub(super) struct Ethernet {
    up: bool,
    mbit: u16,
    full: bool,
}

impl Default for Ethernet {
    fn default() -> Self {
        Self {
            up: true,
            mbit: 100,
            full: true,
        }
    }
}

/// `wifi_status`.
pub(crate) fn wifi_status(settings: &Settings, now_ns: u64) -> Value {
    let Some(wifi) = &settings.wifi else {
        return json!({"state": "disabled", "configured": false, "connected": false, "ssid": ""});
    };
    let connected = now_ns >= wifi.since_ns + JOIN_NS;
    let state = if connected { "connected" } else { "connecting" };
    json!({"state": state, "configured": true, "connected": connected, "ssid": wifi.ssid})
}

/// `wifi_set`.
pub(crate) fn wifi_set(
    settings: &mut Settings,
    args: &Args<'_>,
    now_ns: u64,
) -> Result<Value, Refuse> {
    let ssid = args
        .text("ssid")?
        .ok_or(Refuse::Missing { field: "ssid" })?;
    if !(1..=SSID_BYTES_MAX).contains(&ssid.len()) {
        return Err(Refuse::Bad {
            field: "ssid",
            want: "1 to 32 bytes",
        });
    }
    let password = args.text("password")?.unwrap_or("");
    if !password.is_empty() && !PASSWORD_BYTES.contains(&password.len()) {
        return Err(Refuse::Bad {
            field: "password",
            want: "8 to 63 bytes",
        });
    }
    let ssid = ssid.to_owned();
    let data = json!({"ssid": ssid});
    settings.wifi = Some(Wifi {
        ssid,
        since_ns: now_ns,
    });
    Ok(data)
}

/// `wifi_clear`.
pub(crate) fn wifi_clear(settings: &mut Settings) -> Value {
    settings.wifi = None;
    json!("cleared")
}

/// `eth`. The simulated link carries no traffic of its own: stopping it ends no connection.
pub(crate) fn eth(settings: &mut Settings, args: &Args<'_>) -> Result<Value, Refuse> {
    let action = args
        .text("action")?
        .ok_or(Refuse::Missing { field: "action" })?;
    let link = &mut settings.eth;
    Ok(match action {
        "stats" => {
            let duplex = if link.full { "full" } else { "half" };
            json!({"link": link.up, "mbit": link.mbit, "duplex": duplex,
                "rx_dropped": 0, "tx_dropped": 0})
        }
        "refclk" => json!({"hz": 50_000_000}),
        "stop" => {
            link.up = false;
            json!("stopped")
        }
        "start" | "restart" => {
            link.up = true;
            json!("started")
        }
        "speed" => {
            let mbit = args.uint("mbit", 10..=100)?;
            let mbit: u16 = mbit.ok_or(Refuse::Missing { field: "mbit" })?;
            if mbit != 10 && mbit != 100 {
                return Err(Refuse::Bad {
                    field: "mbit",
                    want: "10 or 100",
                });
            }
            let full = match args.text("duplex")? {
                None | Some("full") => true,
                Some("half") => false,
                Some(_) => {
                    return Err(Refuse::Bad {
                        field: "duplex",
                        want: "half or full",
                    });
                }
            };
            (link.mbit, link.full) = (mbit, full);
            json!({"mbit": mbit, "duplex": if full { "full" } else { "half" }})
        }
        "loopback" => {
            let frames: u16 = args.uint("n", 1..=LOOPBACK_MAX)?.unwrap_or(1);
            json!({"sent": frames, "received": frames})
        }
        _ => {
            return Err(Refuse::Bad {
                field: "action",
                want: "stats, refclk, stop, start, restart, speed or loopback",
            });
        }
    })
}

/// `usb_network`. A connection inside this process does not use the adapter, and continues when it
/// is off.
pub(crate) fn usb_network(
    settings: &mut Settings,
    args: &Args<'_>,
    peer: Peer,
) -> Result<Value, Refuse> {
    if let Some(word) = args.text("set")? {
        if peer.origin != Origin::Usb {
            return Err(Refuse::Elsewhere {
                command: "usb_network",
                how: ONLY_USB,
            });
        }
        settings.usb_off = match word {
            "on" => false,
            "off" => true,
            _ => {
                return Err(Refuse::Bad {
                    field: "set",
                    want: "on or off",
                });
            }
        };
    }
    let setting = if settings.usb_off { "off" } else { "on" };
    Ok(json!({"setting": setting}))
}

/// `lan_tls`.
pub(crate) fn lan_tls(
    settings: &mut Settings,
    config: &SimConfig,
    sessions: usize,
    args: &Args<'_>,
    peer: Peer,
) -> Result<Value, Refuse> {
    let https_only = args.flag("https_only")?;
    let regenerate = args.flag("regenerate")? == Some(true);
    if https_only == Some(false) || regenerate {
        only_secure(peer, "lan_tls")?;
    }
    if let Some(https_only) = https_only {
        settings.https_only = https_only;
    }
    if regenerate {
        settings.tls.regenerate();
    }
    let https_only = settings.https_only;
    let LanCertificate { origin, facts, .. } = settings.tls.current(config.seed);
    Ok(json!({
        "port": config.tls_port,
        "https_only": https_only,
        "sessions": sessions,
        "origin": origin,
        "key": facts.key,
        "subject": facts.subject,
        "san": facts.names,
        "not_after": facts.not_after,
        "sha256": facts.sha256,
        "error": "",
    }))
}
