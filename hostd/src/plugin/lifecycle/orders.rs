//! Orders of the operator, carried out one after the other.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::{Context, bail};
use plugins::grant::{Devices, Grant};
use plugins::id::PluginId;
use plugins::wants::Wants;
use serde_json::{Map, Value};
use store::plugins::State;

use super::super::order::{Approval, Order, Told};
use super::super::{OPERATOR, Plugins};

impl Plugins {
    /// Do what the operator asks for.
    ///
    /// # Errors
    /// Why not, in words for the operator.
    pub async fn carry_out(self: &Arc<Self>, order: Order) -> anyhow::Result<Told> {
        let done = |sentence: String| Told::Done(vec![sentence]);
        Ok(match order {
            Order::Install { package } => Told::Done(self.install(&package).await?),
            Order::Approve(approval) => Told::Done(self.approve(&approval).await?),
            Order::Revoke { id, org } => done(self.revoke(&known(&id)?, &org).await?),
            Order::Configure { id, org, values } => {
                done(self.configure(&known(&id)?, &org, values).await?)
            }
            Order::List => Told::Plugins(self.shown().await?),
            Order::Disable { id } => done(self.disable(&known(&id)?).await?),
            Order::Enable { id } => done(self.enable(&known(&id)?).await?),
            Order::RollBack { id } => {
                let id = known(&id)?;
                let _turn = self.changing.lock().await;
                done(self.roll_back(&id).await?)
            }
            Order::Remove { id, data } => done(self.remove(&known(&id)?, data).await?),
            Order::Logs { id, from } => {
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
            let had = before.as_deref().map(wants_of).unwrap_or_default();
            more(had, approval, &wants)?
        } else {
            wants.clone()
        };
        let mut grant = Grant::of_all(&org, &id, &granted, devices, OPERATOR, at_ms);
        grant.wants = wants.digest();
        let missing = grant.covers(&wants).err().unwrap_or_default();
        self.installed.approve(grant).await?;
        let mut told = vec![format!("{id} may act in the organisation {}", approval.org)];
        told.extend(missing.iter().map(ToString::to_string));
        if self.activate_staged(&id).await? {
            told.push("the version that waited serves".to_owned());
        }
        Ok(told)
    }

    async fn revoke(&self, id: &PluginId, org: &str) -> anyhow::Result<String> {
        let org_id = self.org(org).await?;
        let _turn = self.changing.lock().await;
        self.plugin(id).await?;
        Ok(match self.installed.revoke(id, &org_id).await? {
            true => format!("{id} may do nothing in the organisation {org} any more"),
            false => format!("{id} was not approved in the organisation {org}"),
        })
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
        self.installed.disable(id, OPERATOR).await?;
        self.withdraw(id.as_str(), "is disabled");
        Ok(format!(
            "{id} is disabled; hostd plugin enable {id} serves it again"
        ))
    }

    async fn enable(self: &Arc<Self>, id: &PluginId) -> anyhow::Result<String> {
        let _turn = self.changing.lock().await;
        let plugin = self.plugin(id).await?;
        let active = plugin
            .active
            .with_context(|| format!("enable {id}: it has no version that may serve"))?;
        let loaded = self.load(id, &active).await?;
        if plugin.state != State::Enabled {
            self.installed.enable(id, OPERATOR).await?;
        }
        let version = loaded.version().to_owned();
        self.serve(loaded, None);
        Ok(format!("{id} {version} serves"))
    }

    async fn remove(&self, id: &PluginId, data: bool) -> anyhow::Result<String> {
        let _turn = self.changing.lock().await;
        self.plugin(id).await?;
        self.withdraw(id.as_str(), "is being removed");
        self.installed.remove(id, data, OPERATOR).await?;
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

fn known(id: &str) -> anyhow::Result<PluginId> {
    id.parse().with_context(|| format!("read the id {id:?}"))
}

fn wants_of(grant: &Grant) -> Wants {
    Wants {
        interfaces: grant.interfaces.clone(),
        scopes: grant.scopes.clone(),
        http: grant.http.clone(),
        events: grant.events.clone(),
        timers: grant.timers.clone(),
        secrets: grant.secrets.clone(),
        public: grant.public,
        store_mib: grant.store_mib,
    }
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
