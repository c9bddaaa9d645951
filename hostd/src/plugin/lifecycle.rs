//! What is done with plugins while the server runs: they are loaded, replaced, watched and put back.

use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::Duration;

use anyhow::{Context, bail};
use plugins::cache::{Code, Name};
use plugins::id::PluginId;
use plugins::installed::{ITSELF, InstalledError, Taken};
use plugins::manifest::Manifest;
use plugins::package::Package;
use store::plugins::{Plugin, State};
use tracing::{info, warn};

use super::loaded::LoadError;
use super::logs::Level;
use super::{Loaded, Plugins, fault};

mod commands;
mod shown;

/// How long a new version must do well before the one before is given up as a refuge.
const TRIAL: Duration = Duration::from_secs(60);

/// Pause between looks at a version on trial.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Failed calls in that time that end it: traps, exhausted memory or time.
const TRIAL_FAILURES_MAX: u64 = 5;

/// Why a plugin does not answer that this server failed to load.
const NOT_LOADED: &str = "could not be loaded by this server; its log says why";

impl Plugins {
    /// Begin to serve what is installed, one after the other. What does not load is noted as failed and is in nobody's way.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn start(self: &Arc<Self>) -> anyhow::Result<()> {
        self.listen();
        let installed = self.installed.list().await?;
        for plugin in installed.into_iter().filter(|p| p.state == State::Enabled) {
            if plugin.active.is_none() {
                continue;
            }
            self.set_absent(&plugin.id, "is being loaded; retry shortly");
            let all = self.clone();
            tokio::spawn(async move {
                if let Err(error) = all.start_one(&plugin.id).await {
                    let error = format!("{error:#}");
                    warn!(plugin = plugin.id, error, "failed to start a plugin");
                }
            });
        }
        Ok(())
    }

    /// Serve a plugin, unless an operator has seen to it meanwhile.
    async fn start_one(self: &Arc<Self>, id: &str) -> anyhow::Result<()> {
        let id: PluginId = id.parse()?;
        let _turn = self.changing.lock().await;
        let started = self.start_in_turn(&id).await;
        if let Err(error) = &started {
            let line = format!("not loaded, by no fault of its own: {error:#}");
            self.log(id.as_str()).write(Level::Error, "", line);
            self.set_absent(id.as_str(), NOT_LOADED);
        }
        started
    }

    /// What fails here is the server's own: the plugin stays enabled, and the next start or `enable` tries again.
    async fn start_in_turn(self: &Arc<Self>, id: &PluginId) -> anyhow::Result<()> {
        let plugin = self.installed.get(id).await?;
        let plugin = plugin.filter(|p| p.state == State::Enabled);
        let Some(plugin) = plugin.filter(|_| self.loaded(id.as_str()).is_none()) else {
            return Ok(());
        };
        let Some(digest) = plugin.active.clone() else {
            return Ok(());
        };
        match self.load(id, &digest).await {
            Ok(loaded) => self.serve(loaded, &plugin),
            Err(error) if fault::may_pass(&error) => return Err(error),
            Err(error) => self.give_up(id, &digest, &format!("{error:#}")).await,
        }
        if plugin.due_starts.is_some() {
            self.after_waiting(id).await;
        }
        Ok(())
    }

    /// A version of a plugin, compiled and linked.
    async fn load(self: &Arc<Self>, id: &PluginId, digest: &str) -> anyhow::Result<Loaded> {
        let version = self.installed.version(id, digest).await?;
        let wasm = self.installed.component(id, digest);
        self.ready(version.manifest, version.package.component, wasm)
            .await
    }

    /// The version with this manifest and this digest of its component, compiled and linked. `wasm` is the component, which
    /// is not asked for if it was compiled before.
    async fn ready(
        self: &Arc<Self>,
        manifest: Manifest,
        component: String,
        wasm: impl Future<Output = Result<Vec<u8>, InstalledError>>,
    ) -> anyhow::Result<Loaded> {
        let (all, known) = (self.clone(), manifest.clone());
        let cached = tokio::task::spawn_blocking(move || {
            let (name, code) = all.cached(&component)?;
            let loaded = code.map(|code| all.link(code, known)).transpose()?;
            Ok::<_, anyhow::Error>((name, loaded))
        });
        let name = match cached.await?? {
            (_, Some(loaded)) => return Ok(loaded),
            (name, None) => name,
        };
        let compiled = self.compiler.compile(wasm.await?.into()).await?;
        let all = self.clone();
        let linked = tokio::task::spawn_blocking(move || {
            let code = all.cache()?.keep(&name, compiled)?;
            all.link(code, manifest)
        });
        linked.await?
    }

    /// Blocks, for at most some seconds.
    fn link(&self, code: Code, manifest: Manifest) -> anyhow::Result<Loaded> {
        let ground = self.ground()?;
        let component = ground
            .engine()
            .load(code.bytes())
            .map_err(LoadError::from)?;
        let logs = self.log(manifest.id.as_str());
        let from = (&component, code.into_hold());
        Ok(Loaded::new(ground, &self.services, from, manifest, logs)?)
    }

    /// The compiled form of a component, if it is there, and its name.
    fn cached(&self, component: &str) -> anyhow::Result<(Name, Option<Code>)> {
        let engine = hex::encode(self.ground()?.engine().code_hash());
        let name = Name::new(component, &engine).context("name the compiled component")?;
        let code = self.cache()?.load(&name);
        Ok((name, code))
    }

    /// Answer with the active version of `plugin` from now on, and watch it if it must still prove itself.
    fn serve(self: &Arc<Self>, loaded: Loaded, plugin: &Plugin) {
        let loaded = Arc::new(loaded);
        let facts = loaded.facts();
        let (id, version) = (facts.id.clone(), facts.version.clone());
        self.settings.forget(id.as_str());
        self.swap(|by_id, absent| {
            absent.remove(id.as_str());
            by_id.insert(id.as_str().to_owned(), loaded.clone());
        });
        let exchange_us = u64::try_from(loaded.ready_for().as_micros()).unwrap_or(u64::MAX);
        info!(plugin = %id, version, exchange_us, "plugin serves");
        self.tell_on(&id);
        facts
            .logs
            .write(Level::Info, "", format!("version {version} serves"));
        if let (Some(_), Some(digest)) = (&plugin.trial, plugin.active.clone()) {
            tokio::spawn(watch(Arc::downgrade(self), Arc::downgrade(&loaded), digest));
        }
    }

    /// Serve a plugin no more, and say why to those who ask for it.
    fn withdraw(&self, id: &str, why: &str) {
        self.settings.forget(id);
        self.swap(|by_id, absent| {
            by_id.remove(id);
            absent.insert(id.to_owned(), why.to_owned());
        });
        self.outlet.withdraw(id);
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
            && let Ok(plugin) = self.installed.roll_back(id, digest, ITSELF).await
        {
            log.write(Level::Warn, "", "the version before serves again");
            self.serve(loaded, &plugin);
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
        self.take_in(opened.await??).await
    }

    /// The same with a package that was read.
    pub(super) async fn take_in(self: &Arc<Self>, package: Package) -> anyhow::Result<Vec<String>> {
        let manifest = package.manifest().clone();
        let (id, version) = (manifest.id.clone(), manifest.version.to_string());
        let _turn = self.changing.lock().await;
        self.installed.judge(&package)?;
        let (component, wasm) = (package.component_digest(), package.component().to_vec());
        // It is compiled while it is stored, which is mostly waiting for the disk.
        let (taken, loaded) = tokio::try_join!(
            async {
                let taken = self.installed.install(package, super::OPERATOR).await;
                taken.map_err(anyhow::Error::from)
            },
            async { Ok(self.ready(manifest, component, async { Ok(wasm) }).await) },
        )?;
        let mut told = vec![format!("{id} {version}  {}", origin(&taken))];
        let is_staged = taken.plugin.staged.as_ref() == Some(&taken.digest);
        let loaded = match loaded {
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
            self.activate(&id, &taken.digest, loaded).await?;
        } else if taken.plugin.state == State::Enabled {
            self.serve(loaded, &taken.plugin);
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

    /// Make the version that waits the one that serves, if it waits for nothing any more: its number, if it serves now. If
    /// it does not load by no fault of its own, the next start tries again.
    async fn activate_staged(self: &Arc<Self>, id: &PluginId) -> anyhow::Result<Option<String>> {
        let plugin = self.installed.get(id).await?;
        // What an operator has switched off, the approval of an organisation does not switch on.
        let plugin = plugin.filter(|plugin| plugin.state != State::Disabled);
        let Some(staged) = plugin.and_then(|plugin| plugin.staged) else {
            return Ok(None);
        };
        if !self.installed.waits(id, &staged).await?.is_empty() {
            return Ok(None);
        }
        self.installed.set_due(id, &staged, true).await?;
        let served = self.serve_staged(id, &staged).await;
        if let Err(error) = &served
            && !fault::may_pass(error)
        {
            self.installed.set_due(id, &staged, false).await?;
        }
        served.map(Some)
    }

    /// Make a staged version the one that serves; its number.
    async fn serve_staged(self: &Arc<Self>, id: &PluginId, digest: &str) -> anyhow::Result<String> {
        let loaded = self.load(id, digest).await?;
        let version = loaded.version().to_owned();
        self.activate(id, digest, loaded).await?;
        Ok(version)
    }

    async fn activate(
        self: &Arc<Self>,
        id: &PluginId,
        digest: &str,
        loaded: Loaded,
    ) -> anyhow::Result<()> {
        let activated = self.installed.activate(id, digest, super::OPERATOR).await?;
        self.serve(loaded, &activated);
        // What it has taken the place of may wait for that.
        let installed = self.installed.clone();
        tokio::spawn(async move { installed.sweep().await });
        Ok(())
    }

    /// Back to the version before.
    async fn roll_back(self: &Arc<Self>, id: &PluginId) -> anyhow::Result<String> {
        let plugin = self.plugin(id).await?;
        let (Some(active), Some(before)) = (plugin.active, plugin.previous) else {
            bail!("go back: {id} has no version before this one");
        };
        let loaded = self.load(id, &before).await?;
        let version = loaded.version().to_owned();
        let plugin = self
            .installed
            .roll_back(id, &active, super::OPERATOR)
            .await?;
        self.serve(loaded, &plugin);
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
async fn watch(plugins: Weak<Plugins>, version: Weak<Loaded>, digest: String) {
    let end = tokio::time::Instant::now() + TRIAL;
    let mut id = None;
    while tokio::time::Instant::now() < end {
        tokio::time::sleep(LOOK_EVERY).await;
        let (Some(all), Some(loaded)) = (plugins.upgrade(), version.upgrade()) else {
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
                all.give_up(&loaded.facts().id, &digest, &reason).await;
            }
            return;
        }
        id = Some(loaded.facts().id.clone());
    }
    let (Some(all), Some(id)) = (plugins.upgrade(), id) else {
        return;
    };
    if let Err(error) = all.installed.settle(&id, &digest).await {
        info!(plugin = %id, %error, "the trial of a version ended without a note");
    }
}
