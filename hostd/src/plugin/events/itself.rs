//! Calls that nobody makes: a plugin acts as itself, in an organisation that granted it something.

use std::sync::Arc;
use std::time::Instant;

use base::news::Kind;
use identity::Verified;
use plugins::grant::Devices;
use plugins::rights::{Behind, Denied, Rights};

use super::super::call::PluginCall;
use super::super::{Loaded, Plugins};
use crate::host::Context;

impl Plugins {
    /// What a plugin may do as itself in an organisation.
    pub(super) fn own_rights(&self, plugin: &Loaded, org: &str) -> Rights {
        let id = &plugin.facts().id;
        let granted = self.installed.granted(id, org);
        Rights::new(id, org, granted, Behind::Itself)
    }

    /// Whether a plugin may be told of events of a kind that are about these devices.
    pub(super) fn may_hear(
        &self,
        plugin: &Loaded,
        org: &str,
        kind: &str,
        devices: &[String],
    ) -> Result<Rights, Denied> {
        let rights = self.own_rights(plugin, org);
        rights.may_event(kind)?;
        for device in devices {
            rights.may_device(device)?;
        }
        if devices.is_empty() && !Kind::named(kind).is_some_and(Kind::is_job) {
            // No device has this id, so this asks for all of them.
            rights.may_device("")?;
        }
        Ok(rights)
    }

    /// A call with these rights, which `id` names in logs; none if the configuration cannot be read, as the log says then.
    pub(super) async fn own_call(
        &self,
        plugin: &Loaded,
        rights: Rights,
        id: &str,
    ) -> Option<PluginCall> {
        let facts = plugin.facts();
        let org = rights.org().to_owned();
        let config = self.config(plugin, &org).await.ok()?;
        let scopes = identity::scope::all();
        let scopes = scopes.filter(|scope| rights.may_scope(scope.as_str()).is_ok());
        let devices = match self.installed.grant(&facts.id, &org).as_deref() {
            Some(grant) => match &grant.devices {
                Devices::All => None,
                Devices::Only(ids) => Some(ids.iter().cloned().collect()),
            },
            None => Some(Vec::new()),
        };
        let caller = Verified::of_plugin(&org, facts.id.as_str(), scopes.collect(), devices);
        let context = Context {
            group: facts.id.as_str().into(),
            request_id: id.to_owned(),
            caller: Some(caller),
            lease: None,
            client: None,
            origin: None,
            answer_by: Instant::now() + plugin.patience(),
            disk_full: Arc::default(),
        };
        let (services, facts) = (self.services.clone(), facts.clone());
        let call = PluginCall::new(services, facts, (rights, config), context, None);
        Some(call)
    }
}
