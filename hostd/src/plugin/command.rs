//! What the operator of a server may have done with its plugins, over the socket in the data folder, and what is told of
//! it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::logs::Line;
use super::refused::Refused;

/// A command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Command {
    /// Install the package at a path that the server can read, a file or a folder.
    Install {
        package: PathBuf,
    },
    /// Grant what a plugin wants, in an organisation.
    Approve(Approval),
    /// Take the grant back.
    Revoke {
        id: String,
        org: String,
    },
    /// Set what the manifest's `[config]` leaves to the operator; none = the defaults.
    Configure {
        id: String,
        org: String,
        values: Option<Value>,
    },
    List,
    Disable {
        id: String,
    },
    Enable {
        id: String,
    },
    RollBack {
        id: String,
    },
    /// The plugin's grants go; with `data`, also its keys and configuration.
    Remove {
        id: String,
        data: bool,
    },
    /// Lines from number `from` on.
    Logs {
        id: String,
        from: u64,
    },
}

impl Command {
    /// Id of the plugin that it is about, if it names one.
    #[must_use]
    pub fn plugin(&self) -> Option<&str> {
        match self {
            Self::Install { .. } | Self::List => None,
            Self::Approve(Approval { id, .. })
            | Self::Revoke { id, .. }
            | Self::Configure { id, .. }
            | Self::Disable { id }
            | Self::Enable { id }
            | Self::RollBack { id }
            | Self::Remove { id, .. }
            | Self::Logs { id, .. } => Some(id),
        }
    }

    /// What it does, if it changes anything.
    #[must_use]
    pub fn verb(&self) -> Option<&'static str> {
        Some(match self {
            Self::Install { .. } => "install",
            Self::Approve(_) => "approve",
            Self::Revoke { .. } => "revoke",
            Self::Configure { .. } => "configure",
            Self::Disable { .. } => "disable",
            Self::Enable { .. } => "enable",
            Self::RollBack { .. } => "rollback",
            Self::Remove { .. } => "remove",
            Self::List | Self::Logs { .. } => return None,
        })
    }
}

/// What is granted. With nothing named, all that the plugin wants.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Approval {
    pub id: String,
    /// Name or id of the organisation.
    pub org: String,
    /// Names or ids; empty = all of the organisation, or those that an earlier grant has.
    pub devices: Vec<String>,
    pub all_devices: bool,
    pub interfaces: Vec<String>,
    pub scopes: Vec<String>,
    pub http: Vec<String>,
    pub events: Vec<String>,
    pub timers: Vec<String>,
    pub secrets: Vec<String>,
    pub public: bool,
    pub store_mib: Option<u32>,
}

impl Approval {
    /// Whether it names rights, rather than all that is wanted.
    #[must_use]
    pub(crate) fn is_partial(&self) -> bool {
        let lists = [
            &self.interfaces,
            &self.scopes,
            &self.http,
            &self.events,
            &self.timers,
            &self.secrets,
        ];
        lists.iter().any(|list| !list.is_empty()) || self.public || self.store_mib.is_some()
    }
}

/// What is told of a command that was carried out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Told {
    /// What became of it, as sentences.
    Done(Vec<String>),
    /// What is installed, and packages that were not.
    Plugins(Vec<Shown>, Vec<Refused>),
    Lines(Vec<Line>),
}

/// A plugin as the operator sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    pub id: String,
    /// The version that serves, or would.
    pub version: String,
    /// Which package that version is; none if there is none.
    pub package: Option<Made>,
    /// The version to which `rollback` goes.
    pub previous: Option<String>,
    /// Which package that one is.
    pub previous_package: Option<Made>,
    /// `active`, `loading`, `waiting`, `disabled`, `failed` or `being removed`.
    pub state: String,
    /// Why it failed, or what it waits for.
    pub reason: Option<String>,
    /// Endpoints that it serves now.
    pub routes: usize,
    /// What the newest version asks for, whether it was granted or not; none if there is no version.
    pub wants: Option<Wanted>,
    pub orgs: Vec<Granted>,
}

/// What a version asks for. Each list has what [`Approval`] may name in its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    pub version: String,
    /// For people, as the two after it.
    pub name: Option<String>,
    pub description: Option<String>,
    pub homepage: Option<String>,
    pub interfaces: Vec<String>,
    pub scopes: Vec<String>,
    pub http: Vec<String>,
    pub events: Vec<String>,
    /// Name, and when it is due.
    pub timers: Vec<(String, String)>,
    pub secrets: Vec<String>,
    pub public: bool,
    pub store_mib: u32,
}

/// What tells packages apart whose versions have the same number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Made {
    /// SHA-256 of manifest and component, hexadecimal.
    pub digest: String,
    /// When it was installed, in milliseconds since 1970.
    pub at_ms: u64,
}

/// An organisation in which a plugin was approved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Granted {
    /// Id of the organisation.
    pub org: String,
    /// None: all of them.
    pub devices: Option<Vec<String>>,
    /// What the version wants and was not granted, each as a sentence.
    pub missing: Vec<String>,
}
