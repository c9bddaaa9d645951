//! What the rest of the server knows of notices.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::clock::Clock;
use base::config::{CommitStatusConfig, WebhooksConfig};
use base::private::SecretError;
use base::reach::Reach;
use store::Store;
use tokio::sync::Notify;
use vault::Vault;

use crate::engine;
use crate::limits::Limits;
use crate::message::Links;
use crate::queue::{Owed, Queue};
use crate::target::Target;
use crate::tls::{AuthorityError, Tls};

/// What the service is made of.
pub struct Parts<'a> {
    /// Where everything is stored.
    pub store: Store,
    /// What time it is.
    pub clock: Clock,
    /// Woken by whoever has stored a notice.
    pub wake: Arc<Notify>,
    /// Has the keys that messages are signed with.
    pub vault: Arc<Vault>,
    /// Where webhooks may lead.
    pub webhooks: &'a WebhooksConfig,
    /// Repositories that are told.
    pub commit_statuses: &'a [CommitStatusConfig],
    /// Under which people reach the server; empty if that is not known.
    pub public_url: &'a str,
    /// How long and how often is tried.
    pub limits: Limits,
}

/// Why the service does not start.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A list of networks is malformed.
    #[error("webhooks: {0}")]
    Networks(String),
    /// The certificate authorities are not usable.
    #[error(transparent)]
    Authorities(#[from] AuthorityError),
    /// A repository's token is not usable.
    #[error("use the token of {repository}")]
    Token {
        /// As it is configured.
        repository: String,
        /// What is wrong with its file.
        #[source]
        source: SecretError,
    },
}

/// Notices of all organisations.
pub struct Notices {
    pub(crate) inner: Arc<Inner>,
    engine: tokio::task::JoinHandle<()>,
}

/// What the service and its engine share.
pub(crate) struct Inner {
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    pub(crate) vault: Arc<Vault>,
    pub(crate) wake: Arc<Notify>,
    pub(crate) heard: Arc<Notify>,
    pub(crate) reach: Reach,
    pub(crate) tls: Tls,
    /// By their ids.
    pub(crate) targets: BTreeMap<String, Target>,
    pub(crate) links: Links,
    pub(crate) limits: Limits,
    /// Records that could not be read at the start.
    pub(crate) unreadable: AtomicU64,
    queue: Mutex<Queue>,
}

impl std::fmt::Debug for Notices {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Notices").finish_non_exhaustive()
    }
}

/// Whether webhooks and statuses of commits can be begun with so configured: their lists, and the files that they name.
///
/// # Errors
/// The configuration cannot be used.
pub fn check(
    webhooks: &WebhooksConfig,
    commit_statuses: &[CommitStatusConfig],
) -> Result<(), OpenError> {
    configured(webhooks, commit_statuses).map(drop)
}

/// Where webhooks may lead, how they are secured, and repositories that are told, by id.
type Configured = (Reach, Tls, BTreeMap<String, Target>);

fn configured(
    webhooks: &WebhooksConfig,
    commit_statuses: &[CommitStatusConfig],
) -> Result<Configured, OpenError> {
    let targets = commit_statuses.iter().map(|config| {
        let target = Target::open(config).map_err(|source| OpenError::Token {
            repository: config.repository.clone(),
            source,
        })?;
        Ok((target.id.clone(), target))
    });
    let reach = Reach::new(&webhooks.allow, &webhooks.deny, "denied by webhooks.deny");
    Ok((
        reach.map_err(OpenError::Networks)?,
        Tls::open(&webhooks.ca_file)?,
        targets.collect::<Result<_, OpenError>>()?,
    ))
}

impl Notices {
    /// Goes on with what is owed, which is read after this has returned. Call it on a runtime.
    ///
    /// # Errors
    /// The configuration cannot be used.
    pub fn open(parts: Parts<'_>) -> Result<Arc<Self>, OpenError> {
        let (reach, tls, targets) = configured(parts.webhooks, parts.commit_statuses)?;
        let inner = Arc::new(Inner {
            reach,
            tls,
            targets,
            links: Links::new(parts.public_url),
            store: parts.store,
            clock: parts.clock,
            vault: parts.vault,
            unreadable: AtomicU64::new(0),
            wake: parts.wake,
            heard: Arc::default(),
            limits: parts.limits,
            queue: Mutex::default(),
        });
        let engine = tokio::spawn(engine::run(inner.clone()));
        Ok(Arc::new(Self { inner, engine }))
    }

    /// Notified when there is something that plugins are to be told of.
    #[must_use]
    pub fn heard(&self) -> Arc<Notify> {
        self.inner.heard.clone()
    }

    /// Records of notices, and of what became of them, that could not be read at the start.
    #[must_use]
    pub fn unreadable(&self) -> u64 {
        self.inner.unreadable.load(Ordering::Relaxed)
    }
}

impl Drop for Notices {
    fn drop(&mut self) {
        self.engine.abort();
    }
}

impl Inner {
    pub(crate) fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Owes something from now on.
    pub(crate) fn owe(&self, owed: Owed, at_ms: u64) {
        self.queue().put(owed, at_ms);
        self.wake.notify_one();
    }
}
