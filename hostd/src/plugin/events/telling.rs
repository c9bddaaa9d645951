//! How events reach plugins: one task for each plugin that something waits for, which tells one event at a time.
//!
//! What happens at devices is told from memory. That a job is over is stored with its end, and leaves the store when it
//! was heard or is given up, so it is told also after a crash, perhaps twice.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use base::id;
use base::news::{Happening, Kind};
use plugins::id::PluginId;
use runtime::CallError;
use store::StoreError;
use store::plugins::{self as table, EventKey, OwedEvent};
use tokio::sync::Notify;
use tracing::{error, warn};

use super::super::bindings::subscriber::exports::hostd::plugin::events as wit;
use super::super::logs::Level;
use super::super::{Loaded, Plugins};
use super::outlet::{Full, Step, Task};
use super::queue::{Entry, QUEUE_MAX, What};
use super::timers;

/// After this an event is not told any more.
const AGE_MS_MAX: u64 = 24 * 3_600_000;

/// Between two tries while the store fails.
const STORE_RETRY: Duration = Duration::from_secs(1);

/// Before a plugin is told again after telling it has panicked.
const PANIC_PAUSE: Duration = Duration::from_secs(1);

/// How an event went.
enum Outcome {
    Delivered,
    /// Why it was not.
    Failed(String),
    /// The server could not tell it, through no fault of the plugin.
    Later,
    /// It is not for the plugin any more.
    Gone,
}

impl Plugins {
    /// Hear of everything from now on, and of the jobs that ended before.
    pub(in super::super) fn listen(self: &Arc<Self>) {
        let all = Arc::downgrade(self);
        self.services.devices.news().listen(move |happening| {
            // The end of a job comes from the store.
            let is_stored = happening.kind == Kind::JobFinished;
            if let Some(all) = all.upgrade().filter(|_| !is_stored) {
                all.hear_of(happening);
            }
        });
        let heard = self.services.notices.heard();
        tokio::spawn(follow_owed(Arc::downgrade(self), heard));
        tokio::spawn(timers::follow(Arc::downgrade(self)));
    }

    /// Let something that happened wait for each plugin that may hear of it.
    fn hear_of(self: &Arc<Self>, happening: &Happening) {
        let kind = happening.kind.as_str();
        let devices = &happening.devices;
        for loaded in self.all() {
            let may_hear = loaded.listens_to(kind)
                && self
                    .may_hear(&loaded, &happening.org, kind, devices)
                    .is_ok();
            if may_hear {
                let id = id::ulid(&self.services.clock);
                let held = What::Held(id, Box::new(happening.clone()));
                // The log says it if there is no room.
                let _ = self.owe(&loaded.facts().id, kind, held, false);
            }
        }
    }

    /// Let an event wait for a plugin; one that `may_stay` in the store is not dropped for what waits for others.
    fn owe(
        self: &Arc<Self>,
        plugin: &PluginId,
        kind: &str,
        what: What,
        may_stay: bool,
    ) -> Result<(), Full> {
        let put = self.outlet.put(plugin.as_str(), what, may_stay);
        match put {
            Ok(()) => self.begin_telling(plugin),
            // A plugin that does not keep up does not fill its log as well.
            Err(Full::Dropped(dropped)) if dropped.is_power_of_two() => {
                let told = format!(
                    "an event {kind} was dropped: too many wait already; {dropped} dropped so far"
                );
                self.log(plugin.as_str()).write(Level::Warn, "", told);
            }
            Err(_) => {}
        }
        put
    }

    /// A version of a plugin serves: tell it what waits for it, in memory and in the store.
    pub(in super::super) fn tell_on(self: &Arc<Self>, plugin: &PluginId) {
        self.begin_telling(plugin);
        self.services.notices.heard().notify_one();
    }

    /// Tell a plugin what waits for it, unless that is under way.
    fn begin_telling(self: &Arc<Self>, plugin: &PluginId) {
        if let Some(task) = self.outlet.begin(plugin.as_str()) {
            tokio::spawn(keep_telling(Arc::downgrade(self), task));
        }
    }

    /// Let what is stored wait as well. It stays in the store alone for a plugin that does not serve, which takes no place
    /// meanwhile, and for lack of places: as many events of an organisation as may wait for a plugin.
    async fn take_owed(self: &Arc<Self>) -> Result<(), StoreError> {
        let mut before = BTreeMap::<(String, String), usize>::new();
        for key in self.services.store.read(table::events_owed).await? {
            let Ok(plugin) = key.plugin.parse::<PluginId>() else {
                continue;
            };
            let pair = (key.plugin.clone(), key.org.clone());
            let older = before.entry(pair).or_default();
            let may_stay = *older < QUEUE_MAX;
            *older += 1;
            let is_dropped = if self.loaded(plugin.as_str()).is_some() {
                let (kind, what) = (Kind::JobFinished.as_str(), What::Stored(key.clone()));
                let put = self.owe(&plugin, kind, what, may_stay);
                matches!(put, Err(Full::Dropped(_)))
            } else {
                if !may_stay {
                    self.outlet
                        .count(plugin.as_str(), |heard| heard.dropped += 1);
                }
                !may_stay
            };
            if is_dropped {
                self.services.store.plugin_event_done(&key).await?;
            }
        }
        Ok(())
    }

    async fn tell(&self, loaded: &Loaded, entry: Entry, task: &Task) {
        let event = match self.event(&entry.what).await {
            Ok(event) => event,
            Err(StoreError::Closed) => return,
            Err(error) => {
                let plugin = task.plugin.as_str();
                error!(plugin, %error, "failed to read an event for a plugin; trying again");
                self.later(task, entry);
                return;
            }
        };
        let Some((event, devices)) = event else {
            self.over(task, &entry.what, |_| {}).await;
            return;
        };
        let (id, kind) = (event.id.clone(), event.kind.clone());
        match self.tell_one(loaded, event, &devices).await {
            Outcome::Delivered => {
                self.over(task, &entry.what, |heard| heard.delivered += 1)
                    .await;
            }
            Outcome::Gone => {
                self.over(task, &entry.what, |heard| heard.dropped += 1)
                    .await;
            }
            Outcome::Later => self.later(task, entry),
            Outcome::Failed(why) => {
                let times = entry.failures + 1;
                let told = format!("{kind} was not taken, time {times}: {why}");
                loaded.facts().logs.write(Level::Warn, &id, told);
                self.again(task, entry, &why, &kind).await;
            }
        }
    }

    /// What the server itself is in the way of costs an event none of its tries: its age bounds them.
    fn later(&self, task: &Task, entry: Entry) {
        let now_ms = self.services.clock.steady_ms();
        self.outlet.later(task, entry, now_ms);
    }

    async fn again(&self, task: &Task, entry: Entry, why: &str, kind: &str) {
        let (what, now_ms) = (entry.what.clone(), self.services.clock.steady_ms());
        if !self.outlet.again(task, entry, now_ms) {
            let told = format!("{kind} is given up: {why}");
            self.log(&task.plugin).write(Level::Error, "", told);
            self.over(task, &what, |heard| heard.failed += 1).await;
        }
    }

    /// Telling a plugin has panicked, which costs the event one of its tries, so that it does not happen without end. False if
    /// there was no event: then the next one begins anew.
    async fn after_panic(&self, task: &Task) -> bool {
        let plugin = task.plugin.as_str();
        let Some(entry) = self.outlet.broken_off(task) else {
            error!(plugin, "telling a plugin of events panicked between two");
            return false;
        };
        let times = entry.failures + 1;
        error!(plugin, times, "telling a plugin of an event panicked");
        let why = "the server failed to tell it";
        let told = format!("an event was not taken, time {times}: {why}");
        self.log(plugin).write(Level::Error, "", told);
        self.again(task, entry, why, "an event").await;
        true
    }

    async fn over(&self, task: &Task, what: &What, count: impl FnOnce(&mut super::Heard)) {
        if let What::Stored(key) = what
            && let Err(error) = self.services.store.plugin_event_done(key).await
            && !matches!(error, StoreError::Closed)
        {
            let plugin = task.plugin.as_str();
            warn!(plugin, %error, "failed to store that an event was heard; it is told again");
        }
        if self.outlet.done(task, what, count) {
            self.services.notices.heard().notify_one();
        }
    }

    /// The event as a plugin gets it, and the devices that it is about; none if it is owed no more.
    async fn event(&self, what: &What) -> Result<Option<(wit::Event, Vec<String>)>, StoreError> {
        match what {
            What::Held(id, happening) => Ok(Some(held(id, happening))),
            What::Stored(key) => {
                let key: EventKey = key.clone();
                let found = self.services.store.read(move |s| table::event(s, &key));
                Ok(found.await?.map(stored))
            }
        }
    }

    async fn tell_one(&self, loaded: &Loaded, event: wit::Event, devices: &[String]) -> Outcome {
        let Some(subscriber) = loaded
            .subscriber()
            .filter(|_| loaded.listens_to(&event.kind))
        else {
            return Outcome::Gone;
        };
        let age_ms = self.services.clock.now_ms().saturating_sub(event.at);
        if age_ms > AGE_MS_MAX {
            return Outcome::Gone;
        }
        // What was granted when it happened may have been taken back.
        let Ok(rights) = self.may_hear(loaded, &event.org, &event.kind, devices) else {
            return Outcome::Gone;
        };
        let Some(call) = self.own_call(loaded, rights, &event.id).await else {
            return Outcome::Later;
        };
        match subscriber.hear(event, call).await {
            Ok(Ok(())) => Outcome::Delivered,
            Ok(Err(error)) => Outcome::Failed(format!("{} ({})", error.message, error.code)),
            Err(CallError::Overloaded { .. }) => Outcome::Later,
            Err(error) => Outcome::Failed(error.to_string()),
        }
    }
}

fn held(id: &str, happening: &Happening) -> (wit::Event, Vec<String>) {
    let event = wit::Event {
        id: id.to_owned(),
        kind: happening.kind.as_str().to_owned(),
        at: happening.at_ms,
        org: happening.org.clone(),
        subject: happening.subject.clone(),
        json: happening.told.to_string(),
    };
    (event, happening.devices.clone())
}

fn stored(event: OwedEvent) -> (wit::Event, Vec<String>) {
    let told = wit::Event {
        id: event.id,
        kind: event.kind,
        at: event.at_ms,
        org: event.org,
        subject: event.subject,
        json: event.told,
    };
    (told, event.devices)
}

/// Takes what is stored, at the start and whenever there is more.
async fn follow_owed(plugins: Weak<Plugins>, more: Arc<Notify>) {
    loop {
        let Some(all) = plugins.upgrade() else {
            return;
        };
        match all.take_owed().await {
            Ok(()) => {
                drop(all);
                more.notified().await;
            }
            Err(StoreError::Closed) => return,
            Err(error) => {
                error!(%error, "failed to read what plugins are to be told; trying again");
                drop(all);
                tokio::time::sleep(STORE_RETRY).await;
            }
        }
    }
}

/// Has a plugin told what waits for it, and goes on when that panics: else it would hear of nothing any more.
async fn keep_telling(plugins: Weak<Plugins>, task: Task) {
    let task = Arc::new(task);
    while panics(tell_all(plugins.clone(), task.clone())).await {
        let Some(all) = plugins.upgrade() else {
            return;
        };
        if !all.after_panic(&task).await {
            return;
        }
        drop(all);
        tokio::time::sleep(PANIC_PAUSE).await;
    }
}

/// Whether some work ends with a panic.
async fn panics(work: impl Future<Output = ()> + Send + 'static) -> bool {
    let ended = tokio::spawn(work).await;
    ended.is_err_and(|error| error.is_panic())
}

/// Tells a plugin what waits for it, until nothing does or it does not listen any more.
async fn tell_all(plugins: Weak<Plugins>, task: Arc<Task>) {
    loop {
        let Some(all) = plugins.upgrade() else {
            return;
        };
        let now_ms = all.services.clock.steady_ms();
        let mut loaded = None;
        let listens = || {
            loaded = all.loaded(&task.plugin);
            loaded.is_some()
        };
        match (all.outlet.step(&task, now_ms, listens), loaded) {
            (Step::Tell(entry), Some(loaded)) => all.tell(&loaded, entry, &task).await,
            (Step::Wait(at_ms), _) => {
                drop(all);
                let pause = Duration::from_millis(at_ms.saturating_sub(now_ms));
                tokio::select! {
                    () = tokio::time::sleep(pause) => {}
                    () = task.wake.notified() => {}
                }
            }
            (Step::End | Step::Tell(_), _) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::panics;

    async fn breaks() {
        panic!("it breaks");
    }

    #[tokio::test]
    async fn a_panic_is_noticed() {
        assert!(!panics(async {}).await);
        assert!(panics(breaks()).await);
    }
}
