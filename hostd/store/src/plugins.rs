//! Tables of plugins: which version of each is active, what it was granted, and what operators have set for it.
//!
//! Every change of a plugin's versions is one transaction, so that whenever the process ends, either the old or the new
//! version is active.

use serde::{Deserialize, Serialize};

use super::records::Records;
use super::snapshot::Source;
use super::{Store, StoreError, Writing};

pub(super) mod events;
mod grants;
mod packages;
mod settings;

pub use events::{EventKey, OwedEvent, event, events_owed};
pub use grants::{GRANT_FORMAT, Grant, GrantTimer, grant, grants, grants_of};
pub use packages::{Package, components, package, packages_of};
pub use settings::{Settings, settings, settings_of};

pub(super) const TABLES: [&str; 5] = [
    "plugins",
    packages::TABLE,
    grants::TABLE,
    settings::TABLE,
    events::TABLE,
];

/// Id to plugin.
const PLUGINS: Records<Plugin> = Records::new(TABLES[0]);

/// Whether a plugin serves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum State {
    /// It does.
    Enabled,
    /// An operator has switched it off.
    Disabled,
    /// It could not be loaded, or failed too often.
    Failed { reason: String },
}

/// The active version is new, and the previous one waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trial {
    pub since_ms: u64,
    /// Starts of the server since.
    pub starts: u32,
}

/// A plugin that is being removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Removal {
    /// With its keys and what was set for it.
    pub data: bool,
}

/// An installed plugin. Versions are named by the digests of their packages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plugin {
    pub id: String,
    /// The version that serves; none if none ever has.
    pub active: Option<String>,
    /// The one before.
    pub previous: Option<String>,
    /// One that has been taken in: it is being checked, or waits for approval.
    pub staged: Option<String>,
    /// How many starts of the server the staged version has seen since all that it waited for was granted; none while it
    /// waits, or is just being installed.
    #[serde(default)]
    pub due_starts: Option<u32>,
    #[serde(flatten)]
    pub state: State,
    pub trial: Option<Trial>,
    pub removal: Option<Removal>,
    /// Who changed it last, and when.
    pub by: String,
    pub at_ms: u64,
}

/// Why a plugin could not be changed.
#[derive(Debug, thiserror::Error)]
pub enum PluginError {
    #[error("find the plugin: there is none of this id")]
    Missing,
    #[error("change the plugin: it is being removed")]
    Removing,
    #[error("change the plugin: this version is not, or no longer, the one that it is about")]
    OtherVersion,
    #[error("return to the previous version: there is none")]
    NoPrevious,
    #[error(
        "install the plugin: there are {count_max} already, which is the limit; remove one first"
    )]
    TooMany { count_max: usize },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Plugin {
    /// The versions that it keeps.
    pub fn versions(&self) -> impl Iterator<Item = &str> {
        let all = [&self.active, &self.previous, &self.staged];
        all.into_iter().filter_map(Option::as_deref)
    }
}

/// A plugin.
///
/// # Errors
/// The storage failed, or the record cannot be read.
pub fn by_id(from: &impl Source, id: &str) -> Result<Option<Plugin>, StoreError> {
    PLUGINS.get(from, id)
}

/// All plugins, by id.
///
/// # Errors
/// The storage failed, or a record cannot be read.
pub fn all(from: &impl Source) -> Result<Vec<Plugin>, StoreError> {
    PLUGINS.all(from)
}

/// Changes a plugin, then forgets the packages that it keeps no more.
fn change(
    w: &Writing<'_>,
    id: &str,
    change: impl FnOnce(&mut Plugin) -> Result<(), PluginError>,
) -> Result<Plugin, PluginError> {
    let mut plugin = PLUGINS.get(w, id)?.ok_or(PluginError::Missing)?;
    if plugin.removal.is_some() {
        return Err(PluginError::Removing);
    }
    change(&mut plugin)?;
    PLUGINS.put(w, id, &plugin)?;
    packages::forget_others(w, &plugin)?;
    Ok(plugin)
}

impl Store {
    /// Take in a package whose component is already in its file: the plugin's staged version from now on. A plugin that is
    /// not there yet begins with it, if there are fewer than `count_max`.
    ///
    /// # Errors
    /// There is no room, the plugin is being removed, or the storage failed.
    pub async fn plugin_stage(
        &self,
        package: Package,
        count_max: usize,
    ) -> Result<Plugin, PluginError> {
        self.write(move |w| {
            let id = &package.plugin;
            if PLUGINS.get(w, id)?.is_none() {
                if PLUGINS.count(w)? >= count_max as u64 {
                    return Err(PluginError::TooMany { count_max });
                }
                PLUGINS.put(w, id, &Plugin::new(&package))?;
            }
            packages::put(w, &package)?;
            change(w, id, |plugin| {
                let is_active = plugin.active.as_ref() == Some(&package.digest);
                plugin.staged = (!is_active).then(|| package.digest.clone());
                plugin.due_starts = None;
                plugin.note(&package.by, package.at_ms);
                Ok(())
            })
        })
        .await
    }

    /// Forget the staged version, if it is this one.
    ///
    /// # Errors
    /// There is no such plugin, another version is staged, or the storage failed.
    pub async fn plugin_unstage(&self, id: &str, digest: &str) -> Result<Plugin, PluginError> {
        let (id, digest) = (id.to_owned(), digest.to_owned());
        self.write(move |w| {
            change(w, &id, |plugin| {
                if plugin.staged.take().is_none_or(|staged| staged != digest) {
                    return Err(PluginError::OtherVersion);
                }
                plugin.due_starts = None;
                Ok(())
            })
        })
        .await
    }

    /// Note that the staged version, if it is this one, may serve as soon as it loads, and how many starts of the server it
    /// has seen since; with none, that it may not.
    ///
    /// # Errors
    /// There is no such plugin, another version is staged, or the storage failed.
    pub async fn plugin_set_due(
        &self,
        id: &str,
        digest: &str,
        starts: Option<u32>,
    ) -> Result<Plugin, PluginError> {
        let (id, digest) = (id.to_owned(), digest.to_owned());
        self.write(move |w| {
            change(w, &id, |plugin| {
                if plugin.staged.as_ref() != Some(&digest) {
                    return Err(PluginError::OtherVersion);
                }
                plugin.due_starts = starts;
                Ok(())
            })
        })
        .await
    }

    /// Make the staged version the active one, on trial; the one before becomes the previous one.
    ///
    /// # Errors
    /// There is no such plugin, another version is staged, or the storage failed.
    pub async fn plugin_activate(
        &self,
        id: &str,
        digest: &str,
        by: &str,
        at_ms: u64,
    ) -> Result<Plugin, PluginError> {
        let (id, digest, by) = (id.to_owned(), digest.to_owned(), by.to_owned());
        self.write(move |w| {
            change(w, &id, |plugin| {
                if plugin.staged.as_ref() != Some(&digest) {
                    return Err(PluginError::OtherVersion);
                }
                plugin.previous = plugin.active.take();
                plugin.active = plugin.staged.take();
                plugin.due_starts = None;
                plugin.state = State::Enabled;
                plugin.trial = Some(Trial {
                    since_ms: at_ms,
                    starts: 0,
                });
                plugin.note(&by, at_ms);
                Ok(())
            })
        })
        .await
    }

    /// Count a start of the server for a version on trial; the plugin as it is then.
    ///
    /// # Errors
    /// There is no such plugin, or the storage failed.
    pub async fn plugin_count_start(&self, id: &str) -> Result<Plugin, PluginError> {
        let id = id.to_owned();
        self.write(move |w| {
            change(w, &id, |plugin| {
                if let Some(trial) = &mut plugin.trial {
                    trial.starts += 1;
                }
                Ok(())
            })
        })
        .await
    }

    /// End the trial of a version: it has proven itself.
    ///
    /// # Errors
    /// There is no such plugin, another version is active, or the storage failed.
    pub async fn plugin_settle(&self, id: &str, digest: &str) -> Result<Plugin, PluginError> {
        let (id, digest) = (id.to_owned(), digest.to_owned());
        self.write(move |w| {
            change(w, &id, |plugin| {
                plugin.is_active(&digest)?;
                plugin.trial = None;
                Ok(())
            })
        })
        .await
    }

    /// Return from the version `from` to the previous one, which is then not on trial; `from` becomes the previous one.
    ///
    /// # Errors
    /// There is no such plugin, another version is active, there is no previous one, or the storage failed.
    pub async fn plugin_roll_back(
        &self,
        id: &str,
        from: &str,
        by: &str,
        at_ms: u64,
    ) -> Result<Plugin, PluginError> {
        let (id, from, by) = (id.to_owned(), from.to_owned(), by.to_owned());
        self.write(move |w| {
            change(w, &id, |plugin| {
                plugin.is_active(&from)?;
                let to = plugin.previous.take().ok_or(PluginError::NoPrevious)?;
                plugin.previous = plugin.active.replace(to);
                plugin.state = State::Enabled;
                plugin.trial = None;
                plugin.note(&by, at_ms);
                Ok(())
            })
        })
        .await
    }

    /// Enable or disable a plugin, or say that it failed; with a version, only while that is the active one.
    ///
    /// # Errors
    /// There is no such plugin, another version is active, or the storage failed.
    pub async fn plugin_set_state(
        &self,
        id: &str,
        digest: Option<&str>,
        state: State,
        by: &str,
        at_ms: u64,
    ) -> Result<Plugin, PluginError> {
        let digest = digest.map(str::to_owned);
        let (id, by) = (id.to_owned(), by.to_owned());
        self.write(move |w| {
            change(w, &id, |plugin| {
                digest
                    .as_ref()
                    .map_or(Ok(()), |digest| plugin.is_active(digest))?;
                plugin.state = state.clone();
                plugin.note(&by, at_ms);
                Ok(())
            })
        })
        .await
    }

    /// Begin to remove a plugin: it does not serve any more, whatever happens next. Once more changes nothing.
    ///
    /// # Errors
    /// There is no such plugin, or the storage failed.
    pub async fn plugin_begin_removal(
        &self,
        id: &str,
        removal: Removal,
        by: &str,
        at_ms: u64,
    ) -> Result<Plugin, PluginError> {
        let (id, by) = (id.to_owned(), by.to_owned());
        self.write(move |w| {
            let mut plugin = PLUGINS.get(w, &id)?.ok_or(PluginError::Missing)?;
            if plugin.removal.is_none() {
                plugin.removal = Some(removal);
                plugin.state = State::Disabled;
                plugin.note(&by, at_ms);
                PLUGINS.put(w, &id, &plugin)?;
            }
            Ok(plugin)
        })
        .await
    }

    /// End the removal of a plugin, whose keys are gone if they are to go: its grants go, what was set for it goes with
    /// its data.
    ///
    /// # Errors
    /// It was not begun, or the storage failed.
    pub async fn plugin_end_removal(&self, id: &str) -> Result<(), PluginError> {
        let id = id.to_owned();
        self.write(move |w| {
            let plugin = PLUGINS.get(w, &id)?.ok_or(PluginError::Missing)?;
            let removal = plugin.removal.ok_or(PluginError::OtherVersion)?;
            grants::forget(w, &id)?;
            events::forget(w, &id)?;
            if removal.data {
                settings::forget(w, &id)?;
            }
            packages::forget_all(w, &id)?;
            PLUGINS.remove(w, &id)?;
            Ok(())
        })
        .await
    }
}

impl Plugin {
    fn new(package: &Package) -> Self {
        Self {
            id: package.plugin.clone(),
            active: None,
            previous: None,
            staged: None,
            due_starts: None,
            state: State::Enabled,
            trial: None,
            removal: None,
            by: package.by.clone(),
            at_ms: package.at_ms,
        }
    }

    fn note(&mut self, by: &str, at_ms: u64) {
        by.clone_into(&mut self.by);
        self.at_ms = at_ms;
    }

    fn is_active(&self, digest: &str) -> Result<(), PluginError> {
        let is = self.active.as_deref() == Some(digest);
        is.then_some(()).ok_or(PluginError::OtherVersion)
    }
}
