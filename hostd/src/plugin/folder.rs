//! Packages in `plugins.folder` are installed as an operator's are: same checks, same waiting for grants.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::{Instant, SystemTime};

use plugins::folder::{Folder, News, Taken};
use plugins::id::PluginId;
use plugins::package::Package;
use store::plugins::{Plugin, State};
use tracing::{info, warn};

use super::Plugins;
use super::command::Command;

impl Plugins {
    /// Install what is in `plugins.folder`, and what comes into it, until the server ends. Nothing if there is no such
    /// folder in the configuration.
    pub(crate) fn follow_folder(self: &Arc<Self>, data: &Path) {
        let path = self.config.folder.clone();
        if !path.as_os_str().is_empty() {
            tokio::spawn(follow(Arc::downgrade(self), path, data.to_owned()));
        }
    }

    async fn hear(self: &Arc<Self>, folder: &mut Folder, news: News) {
        match news {
            News::Package {
                name,
                package,
                was_there,
            } => {
                let taken = Taken {
                    plugin: package.manifest().id.to_string(),
                    digest: package.digest(),
                };
                let done = self.take(folder, &taken, *package, was_there);
                match done.await {
                    Ok(notes) => {
                        info!(
                            file = name,
                            plugin = taken.plugin,
                            notes = notes.join("; "),
                            "from plugins.folder"
                        );
                        self.refusals.forget(&name);
                        folder.set_off(&taken.plugin, false);
                        folder.remember(&name, taken);
                    }
                    Err(error) => self.refuse(&name, format!("{error:#}")),
                }
            }
            News::Refused { name, reason } => self.refuse(&name, reason),
            News::Mended { name } => self.refusals.forget(&name),
            News::Gone { name, taken } => match self.let_go(folder, &name, &taken).await {
                Ok(()) => folder.forget(&name),
                // It is told again at the next look.
                Err(error) => {
                    let error = format!("{error:#}");
                    warn!(
                        file = name,
                        plugin = taken.plugin,
                        error,
                        "failed to stop what was removed from plugins.folder"
                    );
                }
            },
        }
    }

    fn refuse(&self, name: &str, reason: String) {
        warn!(file = name, reason, "not installed from plugins.folder");
        self.refusals.note(name, reason);
    }

    /// Install a package, unless it is what is installed; what was done, as sentences.
    async fn take(
        self: &Arc<Self>,
        folder: &Folder,
        taken: &Taken,
        package: Package,
        was_there: bool,
    ) -> anyhow::Result<Vec<String>> {
        let id = package.manifest().id.clone();
        let standing = self.installed.get(&id).await?;
        let Some(plugin) = standing.filter(|plugin| is_known(plugin, &taken.digest, was_there))
        else {
            return self.take_in(package).await;
        };
        if plugin.state == State::Disabled && folder.is_off(id.as_str()) {
            let id = id.as_str().to_owned();
            self.carry_out(Command::Enable { id }).await?;
            return Ok(vec!["it is back, and serves".to_owned()]);
        }
        if self.is_unfinished(&id, &plugin, &taken.digest).await? {
            return self.take_in(package).await;
        }
        Ok(vec!["it is installed already".to_owned()])
    }

    /// Whether a version was taken in and could serve, but does not: what installed it was cut off.
    async fn is_unfinished(
        &self,
        id: &PluginId,
        plugin: &Plugin,
        digest: &str,
    ) -> anyhow::Result<bool> {
        Ok(plugin.staged.as_deref() == Some(digest)
            && plugin.state != State::Disabled
            && self.installed.waits(id, digest).await?.is_empty())
    }

    /// What was removed from the folder does not serve any more, nor when it is approved, unless something else took its
    /// place.
    async fn let_go(
        self: &Arc<Self>,
        folder: &mut Folder,
        name: &str,
        taken: &Taken,
    ) -> anyhow::Result<()> {
        let Ok(id) = taken.plugin.parse::<PluginId>() else {
            return Ok(());
        };
        if folder.has_other(name, id.as_str()) {
            return Ok(());
        }
        // Noted first: what is off must be known to be off for this reason.
        let was_off = folder.is_off(id.as_str());
        folder.set_off(id.as_str(), true);
        let disabled = self.disable_version(&id, &taken.digest).await;
        if !matches!(disabled, Ok(true)) {
            folder.set_off(id.as_str(), was_off);
        }
        if disabled? || self.forget_waiting(&id, &taken.digest).await? {
            info!(file = name, plugin = %id, "removed from plugins.folder");
        }
        Ok(())
    }
}

/// Whether a version needs no installing. A package that was there before the server may be one that was left behind.
fn is_known(plugin: &Plugin, digest: &str, was_there: bool) -> bool {
    let is = |version: &Option<String>| version.as_deref() == Some(digest);
    plugin.removal.is_none()
        && (is(&plugin.active) || is(&plugin.staged) || (was_there && is(&plugin.previous)))
}

async fn follow(plugins: Weak<Plugins>, path: PathBuf, data: PathBuf) {
    let mut folder = Folder::open(&path, &data);
    loop {
        let looked = tokio::task::spawn_blocking(move || {
            let news = folder.look(Instant::now(), SystemTime::now());
            (folder, news)
        });
        let Ok((watched, news)) = looked.await else {
            warn!("plugins.folder is not watched any more, after a fault in this server");
            return;
        };
        folder = watched;
        let Some(all) = plugins.upgrade() else { return };
        for one in news {
            all.hear(&mut folder, one).await;
        }
        drop(all);
        folder.wait().await;
    }
}
