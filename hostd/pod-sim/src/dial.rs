//! A simulated pod that dials in to a server, as one behind a router does: it connects, proves its key, serves tunnels
//! and single commands, and dials again when the link ends.
//!
//! Whom it dials is a stored setting (`cloud_set`); [`SimPod::dial`] follows it.

use std::io;
use std::sync::Arc;

use pod_protocol::dial::{BACKOFF_MAX, BACKOFF_MIN, STABLE_AFTER};
use tokio::time::{Duration, Instant, sleep};

mod answer;
mod connect;
mod link;
mod mailbox;
mod session;
#[cfg(test)]
mod tests;

pub(crate) use answer::read as read_answer;
pub use connect::Trust;
pub use mailbox::{Inbox, Outbox, Overflow, mailbox};

use super::SimPod;
use super::settings::{CloudLink, Dial};
use super::shared::Shared;

/// A changed setting takes effect only after the reply to the command that changed it.
const REPLY_FIRST: Duration = Duration::from_millis(200);

/// Interval between looks at whether a restart is over.
const BOOT_LOOK: Duration = Duration::from_millis(50);

/// Why a link did not come about, or ended.
#[derive(Debug, thiserror::Error)]
pub enum DialError {
    /// The server cannot be reached, or has gone.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A step took too long.
    #[error("{0} timeout")]
    Timeout(&'static str),
    /// The server does not let it in.
    #[error("{step}: the server answers {status}")]
    Refused {
        /// What was asked.
        step: &'static str,
        /// The status of the answer.
        status: u16,
    },
    /// The server's answer cannot be used.
    #[error("{0}")]
    Answer(&'static str),
    /// The server has sent more than a pod keeps.
    #[error("{0}")]
    Overflow(#[from] Overflow),
    /// Nothing was heard of the server.
    #[error("nothing was heard of the server")]
    Silent,
    /// The server has closed the link.
    #[error("the server has closed the link: {0}")]
    Closed(String),
}

impl SimPod {
    /// Stores whom to dial, as `cloud_set` does.
    pub fn set_dial(&self, dial: Dial) {
        let set = |world: &mut super::World, now_ns| world.settings.set_dial(dial, true, now_ns);
        self.shared.with(set);
        self.shared.wires_changed();
    }

    /// Dials whoever is set, for ever.
    pub async fn dial(&self, trust: &Trust) {
        let mut pause = BACKOFF_MIN;
        loop {
            self.wait_until_running().await;
            let (sets, dial) = self.shared.with(|world, _| world.settings.dial());
            let Some(dial) = dial else {
                changed(&self.shared, sets).await;
                pause = BACKOFF_MIN;
                continue;
            };
            self.tell(sets, CloudLink::Connecting);
            let mut boots = self.shared.boots.subscribe();
            let mut plugged = self.shared.plugged.subscribe();
            let began = Instant::now();
            let error = tokio::select! {
                error = self.dial_once(&dial, trust, sets) => error.to_string(),
                () = changed(&self.shared, sets) => {
                    sleep(REPLY_FIRST).await;
                    pause = BACKOFF_MIN;
                    continue;
                }
                _ = boots.changed() => continue,
                _ = plugged.wait_for(|plugged| !plugged) => continue,
            };
            if began.elapsed() >= STABLE_AFTER {
                pause = BACKOFF_MIN;
            }
            self.tell(sets, CloudLink::Backoff(error));
            tokio::select! {
                () = sleep(pause) => pause = (pause * 2).min(BACKOFF_MAX),
                () = changed(&self.shared, sets) => pause = BACKOFF_MIN,
            }
        }
    }

    /// One link, from connecting to its end.
    async fn dial_once(&self, dial: &Dial, trust: &Trust, sets: u64) -> DialError {
        let seed = self.shared.with(|world, _| world.config.seed);
        match connect::connect(dial, trust, seed).await {
            Ok(socket) => {
                self.tell(sets, CloudLink::Connected);
                link::serve(self, &dial.device_id, socket).await
            }
            Err(error) => error,
        }
    }

    fn tell(&self, sets: u64, link: CloudLink) {
        self.shared
            .with(|world, _| world.settings.set_cloud_link(sets, link));
    }

    async fn wait_until_running(&self) {
        let mut plugged = self.shared.plugged.subscribe();
        // The sender is the pod itself.
        let _ = plugged.wait_for(|plugged| *plugged).await;
        while !self.shared.is_serving() {
            sleep(BOOT_LOOK).await;
        }
    }
}

/// Resolves when whom to dial was set anew.
async fn changed(shared: &Arc<Shared>, sets: u64) {
    loop {
        let news = shared.changed().notified();
        if shared.with(|world, _| world.settings.dial().0) != sets {
            return;
        }
        news.await;
    }
}
