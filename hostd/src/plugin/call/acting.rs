//! On whose behalf a plugin acts in a call, asked by every host function before it does anything.

use std::collections::BTreeSet;

use plugins::allow::Pattern;
use plugins::id::PluginId;
use plugins::interface::Interface;
use plugins::rights::{Denied, Rights};
use plugins::target::Target;

use super::offers::types::Error;
use crate::plugin::host::refusal;

/// What a call may do, with refusals as plugins get them.
#[derive(Debug, Clone, Copy)]
pub(in crate::plugin) struct Acting<'a> {
    plugin: &'a PluginId,
    rights: &'a Rights,
}

impl<'a> Acting<'a> {
    pub(in crate::plugin) fn new(plugin: &'a PluginId, rights: &'a Rights) -> Self {
        Self { plugin, rights }
    }

    pub(in crate::plugin) fn plugin(&self) -> &'a str {
        self.plugin.as_str()
    }

    /// Id of the organisation in which it acts.
    pub(in crate::plugin) fn org(&self) -> &'a str {
        self.rights.org()
    }

    pub(in crate::plugin) fn interface(&self, interface: Interface) -> Result<(), Error> {
        self.rights.may_interface(interface).map_err(|e| told(&e))
    }

    pub(in crate::plugin) fn scope(&self, scope: &str) -> Result<(), Error> {
        self.rights.may_scope(scope).map_err(|e| told(&e))
    }

    pub(in crate::plugin) fn secret(&self, name: &str) -> Result<(), Error> {
        self.rights.may_secret(name).map_err(|e| told(&e))
    }

    /// Whether a device of the organisation may be seen and used.
    pub(in crate::plugin) fn may_device(&self, id: &str) -> bool {
        self.rights.may_device(id).is_ok()
    }

    /// The URL to send a request to, and the pattern that allows it.
    pub(in crate::plugin) fn http(&self, url: &str) -> Result<(Target, Pattern), Error> {
        self.rights.may_http(url).map_err(|e| told(&e))
    }

    /// The same, with a refusal that tells nothing of the URL but its server.
    pub(in crate::plugin) fn http_with_secret(
        &self,
        url: &str,
    ) -> Result<(Target, Pattern), Error> {
        let found = self.rights.may_http_with_secret(url);
        found.map_err(|e| told(&e))
    }

    /// All patterns of URLs that were granted.
    pub(in crate::plugin) fn patterns(&self) -> Vec<Pattern> {
        self.rights.http()
    }

    /// Ids of the devices that may be seen and used; none = all of the organisation.
    pub(in crate::plugin) fn devices(&self) -> Option<BTreeSet<String>> {
        self.rights.devices()
    }

    /// Bytes that the plugin's keys in the organisation may take.
    pub(in crate::plugin) fn store_bytes_max(&self) -> Result<u64, Error> {
        self.rights.may_store().map_err(|e| told(&e))
    }
}

/// The stable code of a denial.
pub(in crate::plugin) fn code(denied: &Denied) -> &'static str {
    match denied {
        Denied::NotGranted(_) => "not_granted",
        Denied::OtherOrg => "forbidden",
        Denied::CallerScope(_) => "missing_scope",
        Denied::CallerDevice(_) => "not_found",
        Denied::NoCredential => "no_caller",
        Denied::Url(_) => "invalid",
    }
}

fn told(denied: &Denied) -> Error {
    refusal(code(denied), denied.to_string())
}
