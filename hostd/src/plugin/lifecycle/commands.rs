//! Commands of the operator, carried out one after the other.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use plugins::grant::{Devices, Grant};
use plugins::id::PluginId;
use plugins::wants::Wants;
use serde_json::{Map, Value};
use store::plugins::State;
use tracing::warn;

use super::super::command::{Approval, Command, Told};
use super::super::logs::Level;
use super::super::{Loaded, OPERATOR, Plugins};

/// Time for a call that was ended at its deadline to be gone.
const ENDING_MARGIN: Duration = Duration::from_secs(1);

/// Pause between looks whether all calls have ended.
const ENDED_EVERY: Duration = Duration::from_millis(10);

impl Plugins {
    /// Do what the operator asks for.
    ///
    /// # Errors
    /// Why not, in words for the operator.
    pub async fn carry_out(self: &Arc<Self>, command: Command) -> anyhow::Result<Told> {
        let done = |sentence: String| Told::Done(vec![sentence]);
        Ok(match command {
            Command::Install { package } => Told::Done(self.install(&package).await?),
            Command::Approve(approval) => Told::Done(self.approve(&approval).await?),
            Command::Revoke { id, org } => Told::Done(self.revoke(&known(&id)?, &org).await?),
            Command::Configure { id, org, values } => {
                done(self.configure(&known(&id)?, &org, values).await?)
            }
            Command::List => Told::Plugins(self.shown().await?, self.refusals.all()),
            Command::Disable { id } => done(self.disable(&known(&id)?).await?),
            Command::Enable { id } => Told::Done(self.enable(&known(&id)?).await?),
            Command::RollBack { id } => {
                let id = known(&id)?;
                let _turn = self.changing.lock().await;
                done(self.roll_back(&id).await?)
            }
            Command::Remove { id, data } => done(self.remove(&known(&id)?, data).await?),
            Command::Logs { id, from } => {
                let id = known(&id)?;
                self.plugin(&id).await?;
                Told::Lines(self.log(id.as_str()).since(from))
            }
        })
    }

    /// Grant what is named, in addition to what there is; with nothing named, all that is wanted.
    async fn approve(self: &Arc<Self>, approval: &Approval) -> anyhow::Result<Vec<String>> {
        let id = known(&approval.id)?;
        let org = self.org(&approval.org).await?;
        let _turn = self.changing.lock().await;
        let plugin = self.plugin(&id).await?;
        let newest = plugin.staged.or(plugin.active);
        let newest = newest.with_context(|| format!("approve {id}: it has no version"))?;
        let wants = self.installed.version(&id, &newest).await?.manifest.wants;
        let before = self.installed.grant(&id, &org);
        let devices = self.devices(&org, approval, before.as_deref())?;
        let at_ms = self.services.clock.now_ms();
        let granted = if approval.is_partial() {
            let had = before
                .as_deref()
                .map(|grant| grant.rights.clone())
                .unwrap_or_default();
            more(had, approval, &wants)?
        } else {
            wants.clone()
        };
        let mut grant = Grant::of_all(&org, &id, &granted, devices, OPERATOR, at_ms);
        grant.seen = wants.digest();
        let missing = grant.covers(&wants).err().unwrap_or_default();
        self.installed.approve(grant).await?;
        let mut told = vec![format!("{id} may act in the organisation {}", approval.org)];
        told.extend(missing.iter().map(ToString::to_string));
        told.extend(self.after_waiting(&id).await);
        Ok(told)
    }

    /// Make the version that waited serve, if nothing keeps it any more; what became of it, in words. What was ordered is
    /// done by then, whether that version loads or not; and why it does not is for operators alone.
    pub(super) async fn after_waiting(self: &Arc<Self>, id: &PluginId) -> Option<String> {
        match self.activate_staged(id).await {
            Ok(None) => None,
            Ok(Some(_)) => Some("the version that waited serves".to_owned()),
            Err(error) => {
                let reason = format!("{error:#}");
                warn!(plugin = %id, reason, "the version that waited does not load");
                let line = format!("the version that waited does not load: {reason}");
                self.log(id.as_str()).write(Level::Error, "", line);
                Some(format!(
                    "the version that waited does not load, so the one before goes on; hostd plugin logs {id} says why"
                ))
            }
        }
    }

    async fn revoke(self: &Arc<Self>, id: &PluginId, org: &str) -> anyhow::Result<Vec<String>> {
        let org_id = self.org(org).await?;
        let _turn = self.changing.lock().await;
        self.plugin(id).await?;
        let mut told = vec![match self.installed.revoke(id, &org_id).await? {
            true => format!("{id} may do nothing in the organisation {org} any more"),
            false => format!("{id} was not approved in the organisation {org}"),
        }];
        // This may be what it waited for: where nothing is granted, nothing more has to be.
        told.extend(self.after_waiting(id).await);
        Ok(told)
    }

    async fn configure(
        &self,
        id: &PluginId,
        org: &str,
        values: Option<Value>,
    ) -> anyhow::Result<String> {
        let org_id = self.org(org).await?;
        let values = match values {
            None => Map::new(),
            Some(Value::Object(values)) => values,
            Some(_) => bail!("configure {id}: the values must be an object"),
        };
        let _turn = self.changing.lock().await;
        self.installed
            .set_config(id, &org_id, values, OPERATOR)
            .await?;
        self.settings.forget(id.as_str());
        Ok(format!("{id} is configured for the organisation {org}"))
    }

    async fn disable(&self, id: &PluginId) -> anyhow::Result<String> {
        let _turn = self.changing.lock().await;
        self.plugin(id).await?;
        let served = self.loaded(id.as_str());
        self.switch_off(id).await?;
        let until = served.map_or_else(String::new, |served| {
            let seconds = served.longest_call().as_secs_f32().ceil();
            format!("calls that are under way end within {seconds} s, ")
        });
        Ok(format!(
            "{id} is disabled; {until}hostd plugin enable {id} serves it again"
        ))
    }

    /// The same if this version serves, and not another one by now; whether it was so.
    pub(in crate::plugin) async fn disable_version(
        &self,
        id: &PluginId,
        digest: &str,
    ) -> anyhow::Result<bool> {
        let _turn = self.changing.lock().await;
        let plugin = self.installed.get(id).await?;
        let serves = plugin.is_some_and(|plugin| {
            plugin.state == State::Enabled && plugin.active.as_deref() == Some(digest)
        });
        if serves {
            self.switch_off(id).await?;
        }
        Ok(serves)
    }

    /// Forget this version if it waits behind one that was there before; whether it did.
    pub(in crate::plugin) async fn forget_waiting(
        &self,
        id: &PluginId,
        digest: &str,
    ) -> anyhow::Result<bool> {
        let _turn = self.changing.lock().await;
        let plugin = self.installed.get(id).await?;
        let waits = plugin.is_some_and(|plugin| {
            plugin.active.is_some()
                && plugin.removal.is_none()
                && plugin.staged.as_deref() == Some(digest)
        });
        if waits {
            self.installed.unstage(id, digest).await?;
        }
        Ok(waits)
    }

    async fn switch_off(&self, id: &PluginId) -> anyhow::Result<()> {
        self.installed.disable(id, OPERATOR).await?;
        self.withdraw(id.as_str(), "is disabled");
        Ok(())
    }

    async fn enable(self: &Arc<Self>, id: &PluginId) -> anyhow::Result<Vec<String>> {
        let _turn = self.changing.lock().await;
        let mut plugin = self.plugin(id).await?;
        let Some(active) = plugin.active.clone() else {
            let staged = plugin.staged;
            let staged =
                staged.with_context(|| format!("enable {id}: it has no version that may serve"))?;
            let version = self.serve_staged(id, &staged).await?;
            return Ok(vec![format!("{id} {version} serves")]);
        };
        let loaded = self.load(id, &active).await?;
        if plugin.state != State::Enabled {
            plugin = self.installed.enable(id, OPERATOR).await?;
        }
        let version = loaded.version().to_owned();
        self.serve(loaded, &plugin);
        let mut told = vec![format!("{id} {version} serves")];
        // It may have been approved while the plugin was off.
        told.extend(self.after_waiting(id).await);
        Ok(told)
    }

    async fn remove(&self, id: &PluginId, data: bool) -> anyhow::Result<String> {
        let _turn = self.changing.lock().await;
        self.plugin(id).await?;
        let served = self.loaded(id.as_str());
        self.withdraw(id.as_str(), "is being removed");
        if let Some(served) = served.filter(|_| data) {
            ended(served).await;
        }
        self.installed.remove(id, data, OPERATOR).await?;
        self.outlet.forget(id.as_str());
        self.swap(|_, absent| drop(absent.remove(id.as_str())));
        Ok(match data {
            true => format!("{id} is gone with all that it kept"),
            false => format!("{id} is gone; what it kept stays for its return"),
        })
    }

    /// The id of the organisation with this name or id.
    async fn org(&self, which: &str) -> anyhow::Result<String> {
        let wanted = which.to_owned();
        let found = self.services.store.read(move |s| {
            let named = store::orgs::by_name(s, &wanted)?;
            match named {
                Some(org) => Ok(Some(org)),
                None => store::orgs::by_id(s, &wanted),
            }
        });
        let found = found.await?;
        let found = found.with_context(|| {
            format!("find the organisation {which}: there is none; hostd org list names them")
        })?;
        Ok(found.id)
    }

    /// Which devices are granted: those that are named, else those of before, else all.
    fn devices(
        &self,
        org: &str,
        approval: &Approval,
        before: Option<&Grant>,
    ) -> anyhow::Result<Devices> {
        if approval.all_devices {
            return Ok(Devices::All);
        }
        if approval.devices.is_empty() {
            return Ok(before.map_or(Devices::All, |grant| grant.devices.clone()));
        }
        let there = self.services.devices.list(org);
        let id = |named: &String| {
            let mut devices = there.iter().map(|device| &device.record);
            let found = devices.find(|record| record.id == *named || record.name == *named);
            let found = found.with_context(|| {
                format!("find the device {named}: the organisation has none of this name or id")
            })?;
            Ok(found.id.clone())
        };
        let ids: anyhow::Result<BTreeSet<String>> = approval.devices.iter().map(id).collect();
        Ok(Devices::Only(ids?))
    }
}

/// Wait until nobody calls a version any more that is withdrawn: what it stores meanwhile is to be removed, too.
async fn ended(withdrawn: Arc<Loaded>) {
    let end = tokio::time::Instant::now() + withdrawn.longest_call() + ENDING_MARGIN;
    while Arc::strong_count(&withdrawn) > 1 && tokio::time::Instant::now() < end {
        tokio::time::sleep(ENDED_EVERY).await;
    }
}

fn known(id: &str) -> anyhow::Result<PluginId> {
    id.parse().with_context(|| format!("read the id {id:?}"))
}

/// What was granted, and what is named besides.
fn more(mut had: Wants, approval: &Approval, wants: &Wants) -> anyhow::Result<Wants> {
    for name in &approval.interfaces {
        let interface = name
            .parse()
            .map_err(|e| anyhow::anyhow!("grant {name}: it {e}"))?;
        had.interfaces.insert(interface);
    }
    for scope in &approval.scopes {
        let known = identity::scope::Scope::parse(scope);
        let known = known.with_context(|| {
            format!(
                "grant the scope {scope}: there are {}",
                identity::scope::names()
            )
        })?;
        had.scopes.insert(known.as_str().to_owned());
    }
    for pattern in &approval.http {
        let read = pattern
            .parse()
            .map_err(|e| anyhow::anyhow!("grant {pattern}: it {e}"))?;
        had.http.insert(read);
    }
    for id in &approval.timers {
        let wanted = wants.timers.iter().find(|timer| timer.id == *id);
        let wanted = wanted
            .with_context(|| format!("grant the timer {id}: the plugin has none of this id"))?;
        had.timers.retain(|timer| timer.id != *id);
        had.timers.insert(wanted.clone());
    }
    had.events.extend(approval.events.iter().cloned());
    had.secrets.extend(approval.secrets.iter().cloned());
    had.public |= approval.public;
    had.store_mib = approval.store_mib.unwrap_or(had.store_mib);
    Ok(had)
}
