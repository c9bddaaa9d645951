//! What plugins have to say to an organisation's webhooks.

use base::id;
use serde_json::{Map, Value};
use store::StoreError;
use store::webhooks::{Event, Raised, UnknownEvent};

use crate::message;
use crate::queue::Owed;
use crate::service::Notices;

/// Why webhooks are not told.
#[derive(Debug, thiserror::Error)]
pub enum RaiseError {
    /// The kind is no name of an event.
    #[error("the kind must be 1 to 64 of a-z 0-9 . _ -")]
    Kind(#[from] UnknownEvent),
    /// So many messages wait that this one would take the place of others.
    #[error(
        "{0} messages of the organisation wait for its webhooks already; retry when they have arrived"
    )]
    Full(usize),
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Notices {
    /// Owe webhooks of an organisation that listen to `x.<plugin>.<kind>` a message with this data; how many do. It is
    /// stored when this returns. Half of the organisation's room for waiting messages stays for those of jobs.
    ///
    /// # Errors
    /// The kind is none, too many wait, or the storage failed.
    pub async fn raise(
        &self,
        org: &str,
        plugin: &str,
        kind: &str,
        data: Map<String, Value>,
    ) -> Result<usize, RaiseError> {
        let inner = &self.inner;
        let event = Event::of_plugin(plugin, kind)?;
        let most = inner.limits.waiting_per_org_max / 2;
        if inner.queue().waiting(org) >= most {
            return Err(RaiseError::Full(most));
        }
        let at_ms = inner.clock.now_ms();
        let raised = Raised {
            id: id::ulid(&inner.clock),
            org: org.to_owned(),
            body: message::of_plugin(plugin, &event, at_ms, Value::Object(data)),
            event,
            at_ms,
        };
        let owed = inner.store.webhooks_raise(raised).await?;
        let count = owed.len();
        for delivery in owed {
            inner.owe(Owed::Message(delivery.key()), at_ms);
        }
        Ok(count)
    }
}
