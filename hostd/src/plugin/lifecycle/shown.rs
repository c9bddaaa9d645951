//! How plugins stand, for the operator.

use std::collections::BTreeSet;

use plugins::grant::{Devices, Grant};
use plugins::id::PluginId;
use plugins::installed::{Standing, Version};
use store::plugins::State;

use super::super::Plugins;
use super::super::command::{Granted, Made, Shown, Wanted};
use super::NOT_LOADED;

impl Plugins {
    pub(super) async fn shown(&self) -> anyhow::Result<Vec<Shown>> {
        let mut shown = Vec::new();
        for standing in self.installed.standing().await? {
            let Ok(id) = standing.plugin.id.parse::<PluginId>() else {
                continue;
            };
            shown.push(self.one(&id, standing));
        }
        Ok(shown)
    }

    fn one(&self, id: &PluginId, standing: Standing) -> Shown {
        let Standing {
            plugin,
            active,
            staged,
            previous,
        } = standing;
        let version = |version: &Version| version.manifest.version.to_string();
        let newest = staged.as_ref().or(active.as_ref());
        let waiting = staged.as_ref().map(|staged| {
            format!(
                "version {} waits until what it asks for is granted",
                staged.manifest.version
            )
        });
        let is_loading = plugin.state == State::Enabled
            && active.is_some()
            && self.loaded(id.as_str()).is_none();
        let has_given_up = is_loading
            && self
                .why_absent(id.as_str())
                .is_some_and(|why| why.ends_with(NOT_LOADED));
        let (state, reason) = match plugin.state {
            _ if plugin.removal.is_some() => ("being removed", None),
            _ if has_given_up => ("failed", Some(NOT_LOADED.to_owned())),
            State::Failed { reason } => ("failed", Some(reason)),
            State::Disabled => ("disabled", waiting),
            State::Enabled if active.is_none() => ("waiting", waiting),
            State::Enabled if is_loading => ("loading", waiting),
            State::Enabled => ("active", waiting),
        };
        let granted = |grant: &Grant| Granted {
            org: grant.org.clone(),
            devices: match &grant.devices {
                Devices::All => None,
                Devices::Only(ids) => Some(ids.iter().cloned().collect()),
            },
            missing: newest
                .and_then(|newest| grant.covers(&newest.manifest.wants).err())
                .unwrap_or_default()
                .iter()
                .map(ToString::to_string)
                .collect(),
        };
        Shown {
            id: plugin.id,
            version: active
                .as_ref()
                .or(staged.as_ref())
                .map(version)
                .unwrap_or_default(),
            package: active.as_ref().or(staged.as_ref()).map(made),
            previous: previous.as_ref().map(version),
            previous_package: previous.as_ref().map(made),
            state: state.to_owned(),
            reason,
            routes: self
                .loaded(id.as_str())
                .map(|loaded| loaded.table().iter().count())
                .unwrap_or_default(),
            wants: newest.map(wanted),
            orgs: self
                .installed
                .grants_of(id)
                .iter()
                .map(|grant| granted(grant))
                .collect(),
        }
    }
}

fn wanted(version: &Version) -> Wanted {
    let manifest = &version.manifest;
    let wants = &manifest.wants;
    let timers = wants.timers.iter();
    Wanted {
        version: manifest.version.to_string(),
        name: manifest.name.clone(),
        description: manifest.description.clone(),
        homepage: manifest.homepage.clone(),
        interfaces: words(&wants.interfaces),
        scopes: words(&wants.scopes),
        http: words(&wants.http),
        events: words(&wants.events),
        timers: timers
            .map(|timer| (timer.id.clone(), timer.cron.to_string()))
            .collect(),
        secrets: words(&wants.secrets),
        public: wants.public,
        store_mib: wants.store_mib,
    }
}

fn words<T: ToString>(wanted: &BTreeSet<T>) -> Vec<String> {
    wanted.iter().map(ToString::to_string).collect()
}

fn made(version: &Version) -> Made {
    Made {
        digest: version.package.digest.clone(),
        at_ms: version.package.at_ms,
    }
}
