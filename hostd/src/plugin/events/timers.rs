//! Timers of plugins: looked at whenever a minute begins, by the wall clock in UTC. What was due while the server was down
//! is not made up for, and a timer that is still at work is not called again.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use plugins::wants::Timer;

use super::super::logs::Level;
use super::super::{Loaded, Plugins};

/// The finest step of a timer.
const MINUTE_MS: u64 = 60_000;

/// Longest sleep between two looks at the clock: it may be set.
const LOOK_EVERY_MS: u64 = 20_000;

/// Why a plugin is not called.
const UNCONFIGURED: &str = "its configuration could not be read";

/// A timer of a plugin in an organisation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    plugin: String,
    org: String,
    timer: String,
}

/// Timers at work. Cloning shares them.
#[derive(Debug, Clone, Default)]
struct AtWork(Arc<Mutex<BTreeSet<Due>>>);

/// One of them, until it is dropped.
#[derive(Debug)]
struct Work {
    due: Due,
    of: AtWork,
}

impl AtWork {
    /// Begin, unless it is at work already.
    fn begin(&self, due: &Due) -> Option<Work> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(due.clone()).then(|| Work {
            due: due.clone(),
            of: self.clone(),
        })
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let mut all = self.of.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.remove(&self.due);
    }
}

/// Whether a timer was due after `since_ms`, up to `now_ms`; once, however often that was.
fn is_due(timer: &Timer, since_ms: u64, now_ms: u64) -> bool {
    let next_ms = timer.cron.next_after(since_ms);
    next_ms.is_some_and(|next_ms| next_ms <= now_ms)
}

/// How long to sleep at a time of the wall clock.
fn pause_ms(now_ms: u64) -> u64 {
    (MINUTE_MS - now_ms % MINUTE_MS).min(LOOK_EVERY_MS)
}

/// Looks at the clock for as long as there are plugins.
pub(super) async fn follow(plugins: Weak<Plugins>) {
    let Some(mut since_ms) = plugins.upgrade().map(|all| all.services.clock.now_ms()) else {
        return;
    };
    let at_work = AtWork::default();
    let mut now_ms = since_ms;
    loop {
        tokio::time::sleep(Duration::from_millis(pause_ms(now_ms))).await;
        let Some(all) = plugins.upgrade() else {
            return;
        };
        now_ms = all.services.clock.now_ms();
        for loaded in all.all() {
            all.strike(&loaded, (since_ms, now_ms), &at_work);
        }
        // A clock that was set back counts from there.
        since_ms = now_ms;
    }
}

impl Plugins {
    /// Call a plugin for each of its timers that was due meanwhile, wherever it was granted.
    fn strike(
        self: &Arc<Self>,
        loaded: &Arc<Loaded>,
        (since_ms, now_ms): (u64, u64),
        at_work: &AtWork,
    ) {
        if loaded.subscriber().is_none() {
            return;
        }
        let id = &loaded.facts().id;
        let timers = loaded.manifest().wants.timers.iter();
        for timer in timers.filter(|timer| is_due(timer, since_ms, now_ms)) {
            for grant in self.installed.grants_of(id) {
                if self
                    .own_rights(loaded, &grant.org)
                    .may_timer(timer)
                    .is_err()
                {
                    continue;
                }
                let due = Due {
                    plugin: id.as_str().to_owned(),
                    org: grant.org.clone(),
                    timer: timer.id.clone(),
                };
                match at_work.begin(&due) {
                    Some(work) => {
                        tokio::spawn(call(self.clone(), timer.clone(), work));
                    }
                    None => {
                        let told = format!("timer {} is still at work and is left out", timer.id);
                        loaded.facts().logs.write(Level::Warn, "", told);
                        self.outlet
                            .count(id.as_str(), |heard| heard.timers_skipped += 1);
                    }
                }
            }
        }
    }
}

/// Calls a plugin when none of its other timers is at work.
async fn call(all: Arc<Plugins>, timer: Timer, work: Work) {
    let Due { plugin, org, .. } = &work.due;
    let one_at_a_time = all.outlet.striking(plugin);
    let Ok(_turn) = one_at_a_time.acquire().await else {
        return;
    };
    // Its turn may come late: the version that was due may serve no more, and the one that does may not want the timer.
    let now = all.loaded(plugin);
    let Some(loaded) = now.filter(|now| now.manifest().wants.timers.contains(&timer)) else {
        return;
    };
    let rights = all.own_rights(&loaded, org);
    let (Some(subscriber), Ok(())) = (loaded.subscriber(), rights.may_timer(&timer)) else {
        return;
    };
    let id = format!("timer-{}", base::id::ulid(&all.services.clock));
    let outcome = match all.own_call(&loaded, rights, &id).await {
        Some(call) => match subscriber
            .strike(&id, (timer.id.as_str(), org.as_str()), call)
            .await
        {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(format!("{} ({})", error.message, error.code)),
            Err(error) => Err(error.to_string()),
        },
        None => Err(UNCONFIGURED.to_owned()),
    };
    if let Err(why) = outcome {
        let told = format!("timer {} failed: {why}", timer.id);
        loaded.facts().logs.write(Level::Warn, &id, told);
    }
    all.outlet.count(plugin, |heard| heard.timers += 1);
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR_MS: u64 = 60 * MINUTE_MS;

    fn timer(cron: &str) -> Timer {
        Timer {
            id: "t".into(),
            cron: cron.parse().unwrap(),
        }
    }

    #[test]
    fn a_timer_is_due_once_for_all_that_was_missed_and_never_for_what_was_before() {
        let hourly = timer("0 * * * *");
        assert!(!is_due(&hourly, 10 * HOUR_MS, 11 * HOUR_MS - 1));
        assert!(is_due(&hourly, 11 * HOUR_MS - 1, 11 * HOUR_MS));
        assert!(!is_due(&hourly, 11 * HOUR_MS, 11 * HOUR_MS + MINUTE_MS));
        // The machine slept, or the clock was set: once.
        assert!(is_due(&hourly, 11 * HOUR_MS, 15 * HOUR_MS));
        assert!(!is_due(&hourly, 15 * HOUR_MS, 11 * HOUR_MS));
    }

    #[test]
    fn every_minute_is_looked_at_when_it_begins() {
        let every = timer("* * * * *");
        let (mut since_ms, mut struck) = (5 * HOUR_MS + 17_123, 0);
        let until_ms = since_ms + 10 * MINUTE_MS;
        while since_ms < until_ms {
            let now_ms = since_ms + pause_ms(since_ms);
            if is_due(&every, since_ms, now_ms) {
                assert_eq!(now_ms % MINUTE_MS, 0);
                struck += 1;
            }
            since_ms = now_ms;
        }
        assert_eq!(struck, 10);
    }

    #[test]
    fn a_timer_at_work_does_not_begin_again() {
        let at_work = AtWork::default();
        let due = |org: &str| Due {
            plugin: "p".into(),
            org: org.into(),
            timer: "t".into(),
        };
        let first = at_work.begin(&due("a"));
        assert!(first.is_some() && at_work.begin(&due("a")).is_none());
        assert!(at_work.begin(&due("b")).is_some());
        drop(first);
        assert!(at_work.begin(&due("a")).is_some());
    }
}
