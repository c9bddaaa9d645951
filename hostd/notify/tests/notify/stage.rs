//! A store with notices, and a service that tells them to receivers of this machine.

use std::sync::Arc;
use std::time::{Duration, Instant};

use base::clock::Clock;
use base::config::{CommitStatusConfig, WebhooksConfig};
use base::id;
use notify::{Created, Limits, NewWebhook, Notices, OpenError, Parts};
use serde_json::json;
use store::Store;
use store::commit_statuses::Audience;
use store::jobs::Changes;
use store::notices::{self, Notice, Standing};
use store::orgs::Org;
use store::webhooks::{Delivery, Event, Phase};
use tempfile::TempDir;
use tokio::sync::Notify;
use vault::Vault;

/// Longest wait for something that a test expects.
const WAIT: Duration = Duration::from_secs(60);

/// Between two looks.
const POLL: Duration = Duration::from_millis(5);

/// The organisation of most tests.
pub(crate) const ORG: &str = "o1";

pub(crate) struct Stage {
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    pub(crate) notices: Arc<Notices>,
    pub(crate) vault: Arc<Vault>,
    /// Has the key file.
    pub(crate) folder: Arc<TempDir>,
    wake: Arc<Notify>,
    repositories: Arc<[Audience]>,
}

/// What outlives a process.
pub(crate) struct Kept {
    pub(crate) store: Store,
    /// Has the key file.
    pub(crate) folder: Arc<TempDir>,
}

/// Short pauses, so that tests are. A receiver that answers does so in time, however busy the machine is.
pub(crate) fn limits() -> Limits {
    Limits {
        first_pause_ms: 20,
        pause_ms_max: 100,
        connect: WAIT,
        answer: WAIT,
        total: WAIT,
        ..Limits::default()
    }
}

/// For receivers that do not answer.
pub(crate) fn impatient() -> Limits {
    Limits {
        answer: Duration::from_millis(500),
        total: Duration::from_secs(1),
        ..limits()
    }
}

/// Receivers of this machine may be reached.
pub(crate) fn local() -> WebhooksConfig {
    WebhooksConfig {
        allow: "127.0.0.0/8".to_owned(),
        ..WebhooksConfig::default()
    }
}

impl Stage {
    pub(crate) async fn start() -> Self {
        Self::with(limits(), &local(), &[]).await
    }

    pub(crate) async fn with(
        limits: Limits,
        webhooks: &WebhooksConfig,
        repositories: &[CommitStatusConfig],
    ) -> Self {
        let store = Store::in_memory().unwrap();
        for (id, name) in [(ORG, "acme"), ("o2", "other")] {
            let org = Org {
                id: id.into(),
                name: name.into(),
                created_ms: 1,
                trusted_refs: Vec::new(),
            };
            store.org_ensure(org).await.unwrap();
        }
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let kept = Kept { store, folder };
        Self::on(kept, limits, webhooks, repositories)
    }

    /// On a store that is there already, as after a restart.
    pub(crate) fn on(
        kept: Kept,
        limits: Limits,
        webhooks: &WebhooksConfig,
        repositories: &[CommitStatusConfig],
    ) -> Self {
        Self::open(kept, limits, webhooks, repositories).unwrap()
    }

    pub(crate) fn open(
        kept: Kept,
        limits: Limits,
        webhooks: &WebhooksConfig,
        repositories: &[CommitStatusConfig],
    ) -> Result<Self, OpenError> {
        let (clock, wake) = (Clock::system(), Arc::<Notify>::default());
        let Kept { store, folder } = kept;
        let vault = Vault::new(folder.path(), store.clone(), clock.clone());
        let parts = Parts {
            store: store.clone(),
            clock: clock.clone(),
            vault: vault.clone(),
            wake: wake.clone(),
            webhooks,
            commit_statuses: repositories,
            public_url: "https://bench.example/",
            limits,
        };
        let notices = Notices::open(parts)?;
        Ok(Self {
            repositories: notify::repositories(repositories),
            store,
            clock,
            notices,
            vault,
            folder,
            wake,
        })
    }

    /// What the next process finds.
    pub(crate) fn kept(&self) -> Kept {
        Kept {
            store: self.store.clone(),
            folder: self.folder.clone(),
        }
    }

    pub(crate) async fn webhook(&self, org: &str, url: String) -> Created {
        let new = NewWebhook {
            url,
            events: vec![Event::JobFinished],
            name: None,
            r#ref: None,
        };
        self.notices.webhook_create((org, "u"), new).await.unwrap()
    }

    /// A job that ended, as whoever carries jobs out tells it.
    pub(crate) fn ended(&self, org: &str) -> Notice {
        let job = id::ulid(&self.clock);
        Notice {
            id: id::ulid(&self.clock),
            org: org.into(),
            name: Some("blinky".into()),
            r#ref: Some("main".into()),
            commit: None,
            standing: Standing::Passed,
            message: "All steps passed.".into(),
            told: Some(json!({"id": job, "verdict": "success"})),
            at_ms: self.clock.now_ms(),
            job,
            devices: Vec::new(),
        }
    }

    pub(crate) async fn tell(&self, notices: Vec<Notice>) {
        let changes = Changes {
            notices,
            repositories: self.repositories.clone(),
            ..Changes::default()
        };
        self.store.jobs_change(changes).await.unwrap();
        self.wake.notify_one();
    }

    /// Once nothing is left that nobody was chosen for yet.
    pub(crate) async fn until_spread(&self) {
        let begun = Instant::now();
        loop {
            let left = self.store.read(|s| notices::oldest(s, 1)).await.unwrap();
            if left.is_empty() {
                return;
            }
            assert!(begun.elapsed() < WAIT, "{left:?}");
            tokio::time::sleep(POLL).await;
        }
    }

    pub(crate) async fn deliveries(&self, org: &str, webhook: &str) -> Vec<Delivery> {
        self.notices.deliveries(org, webhook).await.unwrap()
    }

    /// The newest delivery, once it has come so far.
    pub(crate) async fn until(&self, webhook: &str, is_it: impl Fn(&Delivery) -> bool) -> Delivery {
        let begun = Instant::now();
        loop {
            let found = self.deliveries(ORG, webhook).await.into_iter().next();
            if let Some(found) = found.clone().filter(|found| is_it(found)) {
                return found;
            }
            assert!(begun.elapsed() < WAIT, "{found:?}");
            tokio::time::sleep(POLL).await;
        }
    }

    pub(crate) async fn until_phase(&self, webhook: &str, phase: Phase) -> Delivery {
        self.until(webhook, |delivery| delivery.phase == phase)
            .await
    }
}
