//! What is done with plugins while the server runs: they are loaded, replaced, watched and put back.

use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::Duration;

use anyhow::{Context, bail};
use plugins::cache::{Code, Name};
use plugins::id::PluginId;
use plugins::installed::Taken;
use plugins::package::Package;
use store::plugins::{Plugin, State};
use tracing::{info, warn};

use super::loaded::LoadError;
use super::logs::Level;
use super::{Loaded, Plugins};

mod orders;
mod shown;

/// Who does what the server does by itself, in its records.
const ITSELF: &str = "hostd";

/// How long a new version must do well before the one before is given up as a refuge.
const TRIAL: Duration = Duration::from_secs(60);

/// Pause between looks at a version on trial.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Failed calls in that time that end it: traps, exhausted memory or time.
const TRIAL_FAILURES_MAX: u64 = 5;

impl Plugins {
    /// Serve what is installed. Versions that were compiled before answer when this is over, others when they are compiled;
    /// what does not load is noted as failed and is in nobody's way.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn start(self: &Arc<Self>) -> anyhow::Result<()> {
        let installed = self.installed.list().await?;
        for plugin in installed.into_iter().filter(|p| p.state == State::Enabled) {
            let Some(digest) = plugin.active.clone() else {
                continue;
            };
            self.set_absent(&plugin.id, "is being loaded; retry shortly");
            let all = self.clone();
            let loading = async move { all.start_one(&plugin, &digest).await };
            self.starting.lock().await.spawn(loading);
        }
        Ok(())
    }

    async fn start_one(self: &Arc<Self>, plugin: &Plugin, digest: &str) {
        let Ok(id) = plugin.id.parse::<PluginId>() else {
            return;
        };
        let _turn = self.changing.lock().await;
        match self.load(&id, digest).await {
            Ok(loaded) => self.serve(loaded, plugin.trial.is_some().then(|| digest.to_owned())),
            Err(error) => self.give_up(&id, digest, &format!("{error:#}")).await,
        }
    }

    /// A version of a plugin, compiled and linked.
    async fn load(self: &Arc<Self>, id: &PluginId, digest: &str) -> anyhow::Result<Loaded> {
        let version = self.installed.version(id, digest).await?;
        let all = self.clone();
        let component = version.package.component.clone();
        let cached = tokio::task::spawn_blocking(move || all.cached(&component)).await??;
        let code = match cached {
            (_, Some(code)) => code,
            (name, None) => {
                let wasm = self.installed.component(id, digest).await?;
                let compiled = self.compiler.compile(wasm.into()).await?;
                let all = self.clone();
                tokio::task::spawn_blocking(move || {
                    all.cache()?
                        .keep(&name, compiled)
                        .map_err(anyhow::Error::from)
                })
                .await??
            }
        };
        let (all, manifest) = (self.clone(), version.manifest);
        let linked = tokio::task::spawn_blocking(move || {
            let ground = all.ground()?;
            let component = ground
                .engine()
                .load(code.bytes())
                .map_err(LoadError::from)?;
            let logs = all.log(manifest.id.as_str());
            let loaded = Loaded::new(ground, &all.services, &component, manifest, logs)?;
            Ok::<_, anyhow::Error>(loaded.holding(code.into_hold()))
        });
        linked.await?
    }

    /// The compiled form of a component, if it is there, and its name.
    fn cached(&self, component: &str) -> anyhow::Result<(Name, Option<Code>)> {
        let engine = hex::encode(self.ground()?.engine().code_hash());
        let name = Name::new(component, &engine).context("name the compiled component")?;
        let code = self.cache()?.load(&name);
        Ok((name, code))
    }

    /// Answer with a version from now on. `trial`: its digest, if it must prove itself first.
    fn serve(self: &Arc<Self>, loaded: Loaded, trial: Option<String>) {
        let loaded = Arc::new(loaded);
        let facts = loaded.facts();
        let (id, version) = (facts.id.clone(), facts.version.clone());
        self.settings.forget(id.as_str());
        self.swap(|by_id, absent| {
            absent.remove(id.as_str());
            by_id.insert(id.as_str().to_owned(), loaded.clone());
        });
        info!(plugin = %id, version, "plugin serves");
        facts
            .logs
            .write(Level::Info, "", format!("version {version} serves"));
        if let Some(digest) = trial {
            tokio::spawn(watch(Arc::downgrade(self), loaded, digest));
        }
    }

    /// Serve a plugin no more, and say why to those who ask for it.
    fn withdraw(&self, id: &str, why: &str) {
        self.settings.forget(id);
        self.swap(|by_id, absent| {
            by_id.remove(id);
            absent.insert(id.to_owned(), why.to_owned());
        });
    }

    fn set_absent(&self, id: &str, why: &str) {
        self.swap(|_, absent| drop(absent.insert(id.to_owned(), why.to_owned())));
    }

    /// A version does not load, or fails: back to the one before if that is possible, otherwise it is off.
    async fn give_up(self: &Arc<Self>, id: &PluginId, digest: &str, reason: &str) {
        warn!(plugin = %id, reason, "a version of a plugin is given up");
        let log = self.log(id.as_str());
        log.write(Level::Error, "", format!("given up: {reason}"));
        let plugin = self.installed.get(id).await.ok().flatten();
        let before = plugin
            .filter(|p| p.trial.is_some())
            .and_then(|p| p.previous);
        if let Some(before) = before
            && let Ok(loaded) = self.load(id, &before).await
            && self.installed.roll_back(id, digest, ITSELF).await.is_ok()
        {
            log.write(Level::Warn, "", "the version before serves again");
            self.serve(loaded, None);
            return;
        }
        self.withdraw(id.as_str(), "has failed; hostd plugin list says why");
        if let Err(error) = self.installed.fail(id, digest, reason).await {
            warn!(plugin = %id, %error, "failed to note that a plugin failed");
        }
    }

    /// Take in a package and serve it, unless it asks for more than it was granted.
    async fn install(self: &Arc<Self>, path: &Path) -> anyhow::Result<Vec<String>> {
        let path = path.to_owned();
        let opened = tokio::task::spawn_blocking(move || super::check::open(&path));
        let package: Package = opened.await??;
        let id = package.manifest().id.clone();
        let version = package.manifest().version.to_string();
        let _turn = self.changing.lock().await;
        let taken = self.installed.install(package, super::OPERATOR).await?;
        let mut told = vec![format!("{id} {version}  {}", origin(&taken))];
        let is_staged = taken.plugin.staged.as_ref() == Some(&taken.digest);
        let loaded = match self.load(&id, &taken.digest).await {
            Ok(loaded) => loaded,
            Err(error) => {
                if is_staged && let Err(error) = self.forget_staged(&id, &taken).await {
                    warn!(plugin = %id, %error, "failed to forget a version that does not load");
                }
                return Err(
                    error.context("load the plugin; the one before, if there is one, goes on")
                );
            }
        };
        if !taken.waits.is_empty() {
            told.push(
                "it waits until what it asks for is granted; the version before goes on".to_owned(),
            );
            told.extend(taken.waits.iter().map(ToString::to_string));
            return Ok(told);
        }
        if is_staged {
            self.installed
                .activate(&id, &taken.digest, super::OPERATOR)
                .await?;
            self.serve(loaded, Some(taken.digest.clone()));
        } else if taken.plugin.state == State::Enabled {
            self.serve(loaded, None);
        }
        if self.installed.grants_of(&id).is_empty() {
            told.push(format!(
                "it does nothing yet: hostd plugin approve {id} --org ORG"
            ));
        }
        Ok(told)
    }

    /// A version that does not load leaves nothing behind; a plugin that has no other goes whole.
    async fn forget_staged(&self, id: &PluginId, taken: &Taken) -> anyhow::Result<()> {
        let left = self.installed.unstage(id, &taken.digest).await?;
        if left.active.is_none() {
            self.installed.remove(id, false, ITSELF).await?;
        }
        Ok(())
    }

    /// Make the version that waits the one that serves, if it waits for nothing any more; whether it does.
    async fn activate_staged(self: &Arc<Self>, id: &PluginId) -> anyhow::Result<bool> {
        let plugin = self.installed.get(id).await?;
        let Some(staged) = plugin.and_then(|plugin| plugin.staged) else {
            return Ok(false);
        };
        if !self.installed.waits(id, &staged).await?.is_empty() {
            return Ok(false);
        }
        let loaded = self.load(id, &staged).await?;
        self.installed
            .activate(id, &staged, super::OPERATOR)
            .await?;
        self.serve(loaded, Some(staged));
        Ok(true)
    }

    /// Back to the version before.
    async fn roll_back(self: &Arc<Self>, id: &PluginId) -> anyhow::Result<String> {
        let plugin = self.plugin(id).await?;
        let (Some(active), Some(before)) = (plugin.active, plugin.previous) else {
            bail!("go back: {id} has no version before this one");
        };
        let loaded = self.load(id, &before).await?;
        let version = loaded.version().to_owned();
        self.installed
            .roll_back(id, &active, super::OPERATOR)
            .await?;
        self.serve(loaded, None);
        Ok(format!("{id} {version} serves"))
    }

    async fn plugin(&self, id: &PluginId) -> anyhow::Result<Plugin> {
        let found = self.installed.get(id).await?;
        found.with_context(|| {
            format!("find the plugin {id}: there is none; hostd plugin list names them")
        })
    }
}

/// Who vouches for a version.
fn origin(taken: &Taken) -> String {
    use plugins::signature::Origin;
    match &taken.origin {
        Origin::Unsigned => "not signed".to_owned(),
        Origin::Unknown { key } => {
            format!("signed with the key {key}, which plugins.trusted_keys does not name")
        }
        Origin::Signed { key } => format!("signed with the trusted key {key}"),
    }
}

/// Look at a new version until it has proven itself, and go back if it fails.
async fn watch(plugins: Weak<Plugins>, loaded: Arc<Loaded>, digest: String) {
    let id = loaded.facts().id.clone();
    let end = tokio::time::Instant::now() + TRIAL;
    while tokio::time::Instant::now() < end {
        tokio::time::sleep(LOOK_EVERY).await;
        let Some(all) = plugins.upgrade() else {
            return;
        };
        if !all.serves(&loaded) {
            return;
        }
        let failures = loaded.failures();
        if failures >= TRIAL_FAILURES_MAX {
            let _turn = all.changing.lock().await;
            if all.serves(&loaded) {
                let reason = format!(
                    "{failures} calls failed within {} s of its start",
                    TRIAL.as_secs()
                );
                all.give_up(&id, &digest, &reason).await;
            }
            return;
        }
    }
    let Some(all) = plugins.upgrade() else {
        return;
    };
    if let Err(error) = all.installed.settle(&id, &digest).await {
        info!(plugin = %id, %error, "the trial of a version ended without a note");
    }
}
