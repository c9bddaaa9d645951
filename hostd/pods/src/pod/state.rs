//! Whether a pod is online, and what happened to it.

use std::sync::Arc;

use super::{PodFacts, PodIdentity};

/// How many events a slow listener may be behind before it loses the oldest.
pub const EVENTS_KEPT_MAX: usize = 64;

/// Whether a pod is there.
#[derive(Debug, Clone, PartialEq)]
pub enum PodState {
    /// The link is being opened for the first time. Commands wait.
    Connecting,
    /// The pod answers; what it reported about itself.
    Online(Arc<PodFacts>),
    /// The pod was online, but its link broke. Commands wait until it is back or its grace period
    /// is over.
    Reconnecting {
        /// What it last reported about itself.
        facts: Arc<PodFacts>,
        /// What broke the link, as a sentence without its full stop.
        reason: String,
    },
    /// The pod cannot be reached. Commands fail at once; attempts go on.
    Offline {
        /// Why, as a fragment.
        reason: String,
    },
}

impl PodState {
    /// Whether the pod answers.
    pub fn is_online(&self) -> bool {
        matches!(self, Self::Online(_))
    }

    /// Whether it is known if the pod is online.
    pub fn is_settled(&self) -> bool {
        matches!(self, Self::Online(_) | Self::Offline { .. })
    }
}

/// Something that happened to a pod.
#[derive(Debug, Clone, PartialEq)]
pub enum PodEvent {
    /// It is online, for the first time or after it was offline.
    Online(Arc<PodFacts>),
    /// It cannot be reached; why, as a fragment.
    Offline {
        /// Why, as a fragment.
        reason: String,
    },
    /// It has restarted: its outputs are off and its volatile settings are gone.
    Rebooted {
        /// The pod's word for the cause, such as `power-on` or `software`.
        cause: Option<String>,
    },
    /// Another pod answers in its place and is refused.
    IdentityChanged {
        /// Public key of the pod that belongs here.
        was: String,
        /// The one that answers.
        now: PodIdentity,
    },
    /// It runs other firmware than before.
    FirmwareChanged {
        /// Version before.
        was: String,
        /// Version now.
        now: String,
    },
}
