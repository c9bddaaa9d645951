//! `hostd plugin approve`: what an operator grants.

use clap::Args;

use crate::plugin::command::{Approval, Command};

/// Without a right, everything that the plugin wants; with one or more, these in addition to what it has.
#[derive(Debug, Args)]
pub struct Approve {
    /// Id of the plugin
    id: String,
    /// Name or id of the organisation
    #[arg(long, default_value = "default", value_name = "ORG")]
    org: String,
    /// Only this device, by name or id; may be given several times. Without it, all devices
    #[arg(long = "device", value_name = "DEVICE", conflicts_with = "all_devices")]
    devices: Vec<String>,
    /// All devices, after a grant for some
    #[arg(long)]
    all_devices: bool,
    /// An interface of the host
    #[arg(long = "interface", value_name = "NAME")]
    interfaces: Vec<String>,
    /// A scope that its calls may use, as far as the caller has it, too
    #[arg(long = "scope", value_name = "SCOPE")]
    scopes: Vec<String>,
    /// Addresses that it may send requests to: https://host:port/path*
    #[arg(long = "http", value_name = "PATTERN")]
    http: Vec<String>,
    /// A kind of events that it is told of
    #[arg(long = "event", value_name = "KIND")]
    events: Vec<String>,
    /// A timer of its manifest
    #[arg(long = "timer", value_name = "ID")]
    timers: Vec<String>,
    /// A secret that it may read
    #[arg(long = "secret", value_name = "NAME")]
    secrets: Vec<String>,
    /// It may answer callers without a credential
    #[arg(long)]
    public: bool,
    /// Room for its keys
    #[arg(long, value_name = "MIB")]
    store_mib: Option<u32>,
}

impl Approve {
    pub(super) fn command(self) -> Command {
        Command::Approve(Approval {
            id: self.id,
            org: self.org,
            devices: self.devices,
            all_devices: self.all_devices,
            interfaces: self.interfaces,
            scopes: self.scopes,
            http: self.http,
            events: self.events,
            timers: self.timers,
            secrets: self.secrets,
            public: self.public,
            store_mib: self.store_mib,
        })
    }
}
