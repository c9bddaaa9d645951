//! A folder into which somebody puts packages: what is new there, what was replaced, what is gone.
//!
//! ```text
//! inotify ─┐
//!          ├─ look ─ settled? ─ read, check ─> News ─> whoever installs ─> remember
//! clock ───┘
//! ```
//!
//! A package is a file `*.tar`, as it is packed, or a folder with a manifest. Names that begin with a dot are nobody's
//! business. It is taken once it is whole: when its writer has closed it, when it was moved here, or, if neither was seen,
//! when nothing has changed for a while. It is judged once, until it changes again.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use crate::package::Package;

mod entry;
mod eye;
mod memory;

use entry::{Kind, Looked, Seen};
use eye::{Eye, Happened};
use memory::Memory;

pub use entry::ENTRIES_MAX;
pub use memory::Taken;

/// A file whose writer nobody saw is whole when it has been the same for this long.
const FILE_SETTLES: Duration = Duration::from_secs(2);

/// The same for a folder, of which nobody can say that its last file has been written.
const FOLDER_SETTLES: Duration = Duration::from_millis(300);

/// What is gone may come back, in place of what it was: those who replace files remove them first.
const GONE_FOR: Duration = Duration::from_secs(2);

/// Pause between looks when nothing happens: file systems of other machines tell of nothing.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// A watched folder.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// None if the system watches nothing for us; then the clock alone says when to look.
    eye: Option<Eye>,
    memory: Memory,
    entries: BTreeMap<String, Entry>,
    /// Since when packages that were taken are missing.
    gone: BTreeMap<String, Instant>,
    /// Why it cannot be used.
    trouble: Option<String>,
    has_looked: bool,
    /// How long until the next look.
    pause: Duration,
}

/// A package on its way.
#[derive(Debug)]
struct Entry {
    seen: Seen,
    /// When it changed last, as far as was seen.
    since: Instant,
    /// Somebody writes to it.
    is_open: bool,
    /// It is whole.
    is_whole: bool,
    /// It was judged as it is.
    is_done: bool,
    /// It was there, as it is, when the server started.
    was_there: bool,
}

/// What happened in the folder.
#[derive(Debug)]
pub enum News {
    /// A package that was not taken before.
    Package {
        /// Name in the folder.
        name: String,
        /// What it is.
        package: Box<Package>,
        /// It was there, as it is, when the server started.
        was_there: bool,
    },
    /// Something that is not taken. Its name, and in words why; told once.
    Refused {
        /// Name in the folder, or the folder's own path.
        name: String,
        /// Why.
        reason: String,
    },
    /// What was refused before is well, or gone.
    Mended {
        /// Its name.
        name: String,
    },
    /// A package that was taken is not there any more.
    Gone {
        /// Its name.
        name: String,
        /// What it was.
        taken: Taken,
    },
}

impl Folder {
    /// Begin to watch the folder `path`, for a server with the data folder `data`. Blocks for some microseconds.
    #[must_use]
    pub fn open(path: &Path, data: &Path) -> Self {
        let eye = Eye::open(path);
        if let Err(error) = &eye {
            tracing::warn!(%error, "plugins.folder is looked at now and then, since it cannot be watched");
        }
        Self {
            path: path.to_owned(),
            eye: eye.ok(),
            memory: Memory::open(data),
            entries: BTreeMap::new(),
            gone: BTreeMap::new(),
            trouble: None,
            has_looked: false,
            pause: Duration::ZERO,
        }
    }

    /// Look what is there. Of several new packages, one is told at a time. Blocks on the disk.
    pub fn look(&mut self, now: Instant, wall: SystemTime) -> Vec<News> {
        let happened = match &mut self.eye {
            Some(eye) => eye.happened(),
            None => Vec::new(),
        };
        self.pause = LOOK_EVERY;
        let Looked {
            identity,
            packages,
            closed,
        } = match entry::look(&self.path) {
            Ok(looked) => looked,
            Err(reason) => return self.unusable(reason),
        };
        self.memory.of(&self.path, identity);
        let mut news = Vec::new();
        if self.trouble.take().is_some() {
            let name = self.path.display().to_string();
            news.push(News::Mended { name });
        }
        self.compare(packages, now, &mut news);
        self.apply(happened, now);
        self.missing(&closed, now, &mut news);
        self.judge(now, wall, &mut news);
        self.has_looked = true;
        news
    }

    /// Wait until something has happened, or it is time to look again.
    pub async fn wait(&mut self) {
        let watched = async {
            match &self.eye {
                Some(eye) => eye.wait().await,
                None => std::future::pending().await,
            }
        };
        let _ = tokio::time::timeout(self.pause, watched).await;
    }

    /// Remember that a package was dealt with, so that it is not news again, also after a restart.
    pub fn remember(&mut self, name: &str, taken: Taken) {
        self.memory.keep(name, taken);
    }

    /// Forget a package that is gone.
    pub fn forget(&mut self, name: &str) {
        self.gone.remove(name);
        self.memory.forget(name);
    }

    /// Remember whether a plugin is off because its package was removed from here.
    pub fn set_off(&mut self, plugin: &str, is_off: bool) {
        self.memory.set_off(plugin, is_off);
    }

    /// Whether a plugin is off because its package was removed from here.
    #[must_use]
    pub fn is_off(&self, plugin: &str) -> bool {
        self.memory.is_off(plugin)
    }

    /// Whether another package here is of this plugin.
    #[must_use]
    pub fn has_other(&self, name: &str, plugin: &str) -> bool {
        self.memory.has_other(name, plugin)
    }

    fn unusable(&mut self, reason: String) -> Vec<News> {
        if self.trouble.as_ref() == Some(&reason) {
            return Vec::new();
        }
        self.trouble = Some(reason.clone());
        let name = self.path.display().to_string();
        vec![News::Refused { name, reason }]
    }

    /// What is there now, beside what was there.
    fn compare(&mut self, seen: BTreeMap<String, Seen>, now: Instant, news: &mut Vec<News>) {
        let left = self.entries.keys().filter(|name| !seen.contains_key(*name));
        news.extend(left.map(|name| News::Mended { name: name.clone() }));
        self.entries.retain(|name, _| seen.contains_key(name));
        for (name, seen) in seen {
            if let (Kind::Folder, Some(eye)) = (seen.kind, &mut self.eye) {
                eye.also(&self.path, &name);
            }
            match self.entries.get_mut(&name) {
                Some(entry) if entry.seen == seen => {}
                Some(entry) => {
                    entry.seen = seen;
                    entry.since = now;
                    entry.is_whole = false;
                    entry.is_done = false;
                    entry.was_there = false;
                }
                None => {
                    let entry = Entry {
                        seen,
                        since: now,
                        is_open: false,
                        is_whole: false,
                        is_done: false,
                        was_there: !self.has_looked,
                    };
                    self.entries.insert(name, entry);
                }
            }
        }
    }

    fn apply(&mut self, happened: Vec<Happened>, now: Instant) {
        for one in happened {
            let (Happened::Written(name)
            | Happened::Closed(name)
            | Happened::Arrived(name)
            | Happened::Below(name)) = &one
            else {
                // Some were lost, so nobody knows who still writes: the clock alone says what is whole.
                for entry in self.entries.values_mut() {
                    entry.is_open = false;
                    entry.is_whole = false;
                }
                continue;
            };
            let Some(entry) = self.entries.get_mut(name) else {
                continue;
            };
            match one {
                Happened::Written(_) => entry.is_open = true,
                Happened::Closed(_) | Happened::Arrived(_) => {
                    entry.is_open = false;
                    entry.is_whole = true;
                }
                Happened::Below(_) | Happened::Lost => {
                    entry.since = now;
                    entry.is_whole = false;
                    entry.was_there = false;
                }
            }
        }
    }

    /// What was taken and is not there now. Of what is `closed` nobody knows.
    fn missing(&mut self, closed: &BTreeSet<String>, now: Instant, news: &mut Vec<News>) {
        let entries = &self.entries;
        let may_be_there = |name: &String| entries.contains_key(name) || closed.contains(name);
        self.gone.retain(|name, _| !may_be_there(name));
        for (name, taken) in self.memory.all() {
            if may_be_there(name) {
                continue;
            }
            let since = *self.gone.entry(name.clone()).or_insert(now);
            match GONE_FOR.checked_sub(now.saturating_duration_since(since)) {
                Some(left) if !left.is_zero() => self.pause = self.pause.min(left),
                _ => news.push(News::Gone {
                    name: name.clone(),
                    taken: taken.clone(),
                }),
            }
        }
    }

    fn judge(&mut self, now: Instant, wall: SystemTime, news: &mut Vec<News>) {
        let mut ready = Vec::new();
        for (name, entry) in self
            .entries
            .iter()
            .filter(|(_, e)| !e.is_done && !e.is_open)
        {
            match entry.unsettled(now, wall) {
                Some(left) => self.pause = self.pause.min(left),
                None => ready.push((entry.seen.newest(), name.clone())),
            }
        }
        // Of two versions of a plugin, the later one is to serve.
        ready.sort();
        for (_, name) in ready {
            if news.iter().any(|one| matches!(one, News::Package { .. })) {
                self.pause = Duration::ZERO;
                return;
            }
            let Some(entry) = self.entries.get_mut(&name) else {
                continue;
            };
            entry.is_done = true;
            let was_there = entry.was_there;
            news.push(match entry::read(&self.path.join(&name), entry.seen.kind) {
                Err(reason) => News::Refused { name, reason },
                Ok(package) if self.memory.has(&name, &package.digest()) => News::Mended { name },
                Ok(package) => News::Package {
                    name,
                    package: Box::new(package),
                    was_there,
                },
            });
        }
    }
}

impl Entry {
    /// How long until it counts as whole; none if it does.
    fn unsettled(&self, now: Instant, wall: SystemTime) -> Option<Duration> {
        if self.is_whole {
            return None;
        }
        let settles = match self.seen.kind {
            Kind::File => FILE_SETTLES,
            Kind::Folder => FOLDER_SETTLES,
        };
        let watched = now.saturating_duration_since(self.since);
        // Whoever copies may keep the times of what is copied, so they say nothing of what is being put here.
        let age = match self.was_there {
            true => wall.duration_since(self.seen.newest()).unwrap_or_default(),
            false => Duration::ZERO,
        };
        settles
            .checked_sub(watched.max(age))
            .filter(|left| !left.is_zero())
    }
}

/// The folder cannot be used, or what is in it: in words for its owner.
fn failed(what: &str, error: &io::Error) -> String {
    format!("failed to {what}: {error}")
}

#[cfg(test)]
mod tests;
