//! The plugins of a server: which there are, which version of each serves, what they were granted and what was set for
//! them.
//!
//! ```text
//! install ─ file, then record ─> staged ─ activate ─> active, on trial ─ settle ─> active
//!                                  │ waits for grants    │ fails: roll back
//! ```
//!
//! A component's file is on disk before a record names it, and goes after none names it any more. Whenever the process
//! ends, [`Installed::open`] finds the old or the new version, goes on with removals, and clears what was left over. A
//! change that was begun is finished even if nobody waits for it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use base::clock::Clock;
use base::pins::Pins;
use store::plugins::{self as table, Plugin, Removal};
use store::{Store, StoreError};
use tokio::sync::Mutex;

use crate::granted::Kept;
use crate::id::PluginId;
use crate::manifest::Manifest;
use crate::missing::Missing;
use crate::package::Package;
use crate::signature::{Keys, Origin, Policy};

mod decisions;
mod error;
mod files;
mod recovery;
mod standing;

pub use error::InstalledError;
pub use recovery::TRIAL_STARTS_MAX;
pub use standing::Standing;

use files::Files;

/// Most plugins of a server.
pub(crate) const PLUGINS_MAX: usize = 100;

/// Who does what the server does by itself, in records.
pub const ITSELF: &str = "hostd";

/// What it is made of.
#[derive(Debug)]
pub struct Parts {
    /// The data folder.
    pub data: PathBuf,
    /// Where everything but components is stored.
    pub store: Store,
    /// What time it is.
    pub clock: Clock,
    /// Held while a backup copies files.
    pub pins: Pins,
    /// Keys that the operator trusts.
    pub keys: Keys,
    /// Whether plugins must be signed.
    pub policy: Policy,
}

/// The plugins of a server. Cloning shares them; there is one for a store.
#[derive(Debug, Clone)]
pub struct Installed(Arc<Inner>);

type Grants = HashMap<(PluginId, String), Kept>;

#[derive(Debug)]
struct Inner {
    store: Store,
    clock: Clock,
    files: Files,
    keys: Keys,
    policy: Policy,
    /// One change at a time.
    changing: Mutex<()>,
    /// By plugin and organisation.
    grants: RwLock<Grants>,
}

/// A version that was taken in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// The plugin as it is now; the version is staged, unless it is active already.
    pub plugin: Plugin,
    /// The version.
    pub digest: String,
    /// Where it comes from.
    pub origin: Origin,
    /// What has to be granted before it can be activated.
    pub waits: Vec<Missing>,
}

/// A version, read from disk and checked.
#[derive(Debug, Clone)]
pub struct Version {
    /// Its package.
    pub package: table::Package,
    /// Its manifest.
    pub manifest: Manifest,
}

impl Version {
    fn of(package: table::Package) -> Result<Self, InstalledError> {
        let manifest = Manifest::parse(package.manifest.as_bytes())?;
        Ok(Self { package, manifest })
    }
}

impl Installed {
    /// Goes on where the last server was. Call it on a runtime.
    ///
    /// # Errors
    /// The folder cannot be made, or the storage failed.
    pub async fn open(parts: Parts) -> Result<Self, InstalledError> {
        let files = Files::open(&parts.data, parts.pins)?;
        let installed = Self(Arc::new(Inner {
            store: parts.store,
            clock: parts.clock,
            files,
            keys: parts.keys,
            policy: parts.policy,
            changing: Mutex::default(),
            grants: RwLock::default(),
        }));
        installed
            .apart(|inner| async move { inner.resume().await })
            .await?;
        Ok(installed)
    }

    /// Whether a package's signature, or that it has none, is taken here.
    ///
    /// # Errors
    /// It is not.
    pub fn judge(&self, package: &Package) -> Result<Origin, InstalledError> {
        self.0.judge(package)
    }

    /// Takes in a version: it is staged, and the one that serves goes on.
    ///
    /// # Errors
    /// Its signature is not taken, there is no room, or the disk.
    pub async fn install(&self, package: Package, by: &str) -> Result<Taken, InstalledError> {
        let by = by.to_owned();
        self.apart(|inner| async move { inner.install(package, by).await })
            .await
    }

    /// Makes the staged version of this digest the active one, on trial. An update that asks for more than organisations
    /// have granted waits.
    ///
    /// # Errors
    /// It waits, or is not staged, or the disk.
    pub async fn activate(
        &self,
        id: &PluginId,
        digest: &str,
        by: &str,
    ) -> Result<Plugin, InstalledError> {
        let (id, digest, by) = (id.clone(), digest.to_owned(), by.to_owned());
        self.apart(|inner| async move {
            let waits = inner.waits(&id, &digest).await?;
            if !waits.is_empty() {
                return Err(InstalledError::Waits(waits));
            }
            let at_ms = inner.clock.now_ms();
            let activated = inner
                .store
                .plugin_activate(id.as_str(), &digest, &by, at_ms)
                .await;
            Ok(activated?)
        })
        .await
    }

    /// Removes the files that no version needs any more. The next start does so, too.
    pub async fn sweep(&self) {
        let swept = self.apart(|inner| async move {
            inner.sweep().await;
            Ok(())
        });
        // It is noted where it fails.
        let _ = swept.await;
    }

    /// Forgets the staged version: it does not load, or nobody wants it.
    ///
    /// # Errors
    /// It is not staged, or the disk.
    pub async fn unstage(&self, id: &PluginId, digest: &str) -> Result<Plugin, InstalledError> {
        let (id, digest) = (id.clone(), digest.to_owned());
        self.apart(|inner| async move {
            let plugin = inner.store.plugin_unstage(id.as_str(), &digest).await?;
            inner.sweep().await;
            Ok(plugin)
        })
        .await
    }

    /// Ends the trial of a version that has proven itself.
    ///
    /// # Errors
    /// Another version is active, or the disk.
    pub async fn settle(&self, id: &PluginId, digest: &str) -> Result<Plugin, InstalledError> {
        Ok(self.0.store.plugin_settle(id.as_str(), digest).await?)
    }

    /// Returns from a version to the one before, which is not on trial: whoever returns by itself does so once.
    ///
    /// # Errors
    /// Another version is active, there is none before it, or the disk.
    pub async fn roll_back(
        &self,
        id: &PluginId,
        from: &str,
        by: &str,
    ) -> Result<Plugin, InstalledError> {
        let at_ms = self.0.clock.now_ms();
        Ok(self
            .0
            .store
            .plugin_roll_back(id.as_str(), from, by, at_ms)
            .await?)
    }

    /// Removes a plugin with its versions and grants; with `data`, also its keys and what was set for it. It must not be
    /// called any more.
    ///
    /// # Errors
    /// There is none, or the disk; what was begun goes on with the next start.
    pub async fn remove(&self, id: &PluginId, data: bool, by: &str) -> Result<(), InstalledError> {
        let (id, by) = (id.clone(), by.to_owned());
        self.apart(|inner| async move {
            let at_ms = inner.clock.now_ms();
            let removal = Removal { data };
            let plugin = inner
                .store
                .plugin_begin_removal(id.as_str(), removal, &by, at_ms)
                .await?;
            inner.grants().retain(|(plugin, _), kept| {
                if *plugin == id {
                    kept.take_back();
                }
                *plugin != id
            });
            inner.finish_removal(&plugin).await?;
            inner.sweep().await;
            Ok(())
        })
        .await
    }

    /// All plugins, by id.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn list(&self) -> Result<Vec<Plugin>, InstalledError> {
        Ok(self.0.store.read(table::all).await?)
    }

    /// All plugins with what their versions say of themselves, by id, as they were at one moment.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn standing(&self) -> Result<Vec<Standing>, InstalledError> {
        let read = self.0.store.read(|s| {
            let all = table::all(s)?.into_iter();
            all.map(|plugin| Standing::read(s, plugin)).collect()
        });
        read.await
    }

    /// The same of one plugin, if there is one of this id.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn standing_of(&self, id: &PluginId) -> Result<Option<Standing>, InstalledError> {
        let id = id.clone();
        let read = self.0.store.read(move |s| {
            let plugin = table::by_id(s, id.as_str())?;
            plugin.map(|plugin| Standing::read(s, plugin)).transpose()
        });
        read.await
    }

    /// A plugin.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn get(&self, id: &PluginId) -> Result<Option<Plugin>, InstalledError> {
        let id = id.clone();
        Ok(self
            .0
            .store
            .read(move |s| table::by_id(s, id.as_str()))
            .await?)
    }

    /// What a version says of itself.
    ///
    /// # Errors
    /// There is no such version, or the storage failed.
    pub async fn version(&self, id: &PluginId, digest: &str) -> Result<Version, InstalledError> {
        self.0.version(id, digest).await
    }

    /// The component of a version, whole and unchanged.
    ///
    /// # Errors
    /// There is no such version, its file is lost or changed, or the disk.
    pub async fn component(&self, id: &PluginId, digest: &str) -> Result<Vec<u8>, InstalledError> {
        let package = self.0.version(id, digest).await?.package;
        let inner = self.0.clone();
        let read = tokio::task::spawn_blocking(move || inner.files.read(&package.component));
        read.await.map_err(|_| StoreError::Panicked)?
    }

    /// What has to be granted before a version can be activated: what it asks for beside what the active one does, where
    /// that was granted.
    ///
    /// # Errors
    /// There is no such version, or the storage failed.
    pub async fn waits(&self, id: &PluginId, digest: &str) -> Result<Vec<Missing>, InstalledError> {
        self.0.waits(id, digest).await
    }

    /// Makes a change in a task of its own, which ends whether or not anybody waits for it, and alone.
    async fn apart<T, F>(&self, change: impl FnOnce(Arc<Inner>) -> F) -> Result<T, InstalledError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, InstalledError>> + Send + 'static,
    {
        let (inner, work) = (self.0.clone(), change(self.0.clone()));
        let changed = tokio::spawn(async move {
            let _alone = inner.changing.lock().await;
            work.await
        });
        changed.await.map_err(|_| StoreError::Panicked)?
    }
}

impl Inner {
    fn judge(&self, package: &Package) -> Result<Origin, InstalledError> {
        let (manifest, bytes) = (package.manifest(), package.manifest_bytes());
        let judged = self
            .keys
            .judge(self.policy, manifest, bytes, package.signature());
        Ok(judged?)
    }

    fn grants(&self) -> RwLockWriteGuard<'_, Grants> {
        self.grants.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn known_grants(&self) -> RwLockReadGuard<'_, Grants> {
        self.grants.read().unwrap_or_else(PoisonError::into_inner)
    }

    async fn install(
        self: Arc<Self>,
        package: Package,
        by: String,
    ) -> Result<Taken, InstalledError> {
        let origin = self.judge(&package)?;
        let (manifest, bytes) = (package.manifest(), package.manifest_bytes());
        let (id, digest) = (manifest.id.clone(), package.digest());
        let record = table::Package {
            plugin: id.as_str().to_owned(),
            digest: digest.clone(),
            version: manifest.version.to_string(),
            manifest: String::from_utf8_lossy(bytes).into_owned(),
            component: package.component_digest(),
            component_bytes: package.component().len() as u64,
            signed_by: match &origin {
                Origin::Signed { key } => Some(key.clone()),
                Origin::Unsigned | Origin::Unknown { .. } => None,
            },
            by,
            at_ms: self.clock.now_ms(),
        };
        let inner = self.clone();
        let name = record.component.clone();
        let written =
            tokio::task::spawn_blocking(move || inner.files.write(&name, package.component()));
        written.await.map_err(|_| StoreError::Panicked)??;
        let staged = self.store.plugin_stage(record, PLUGINS_MAX).await;
        if staged.is_err() {
            self.sweep().await;
        }
        let plugin = staged?;
        let waits = self.waits(&id, &digest).await?;
        Ok(Taken {
            plugin,
            digest,
            origin,
            waits,
        })
    }

    async fn plugin(&self, id: &PluginId) -> Result<Plugin, InstalledError> {
        let id = id.clone();
        let found = self
            .store
            .read(move |s| table::by_id(s, id.as_str()))
            .await?;
        found.ok_or(InstalledError::Plugin(table::PluginError::Missing))
    }

    async fn version(&self, id: &PluginId, digest: &str) -> Result<Version, InstalledError> {
        let (id, digest) = (id.clone(), digest.to_owned());
        let found = self
            .store
            .read(move |s| table::package(s, id.as_str(), &digest))
            .await?;
        Version::of(found.ok_or(InstalledError::NoVersion)?)
    }

    async fn waits(&self, id: &PluginId, digest: &str) -> Result<Vec<Missing>, InstalledError> {
        let to = self.version(id, digest).await?.manifest.wants;
        let active = self.plugin(id).await?.active;
        let Some(active) = active.filter(|active| active != digest) else {
            // Nothing serves that could lose a right.
            return Ok(Vec::new());
        };
        let from = self.version(id, &active).await?.manifest.wants;
        let grants = self.known_grants();
        let own = grants.iter().filter(|((plugin, _), _)| plugin == id);
        let own = own.filter_map(|(_, kept)| kept.now());
        let mut waits: Vec<_> = own
            .flat_map(|grant| grant.lacks_for_update(&from, &to))
            .collect();
        waits.sort_by(|a, b| a.org.cmp(&b.org));
        Ok(waits)
    }
}

#[cfg(test)]
mod tests;
