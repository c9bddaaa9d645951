//! One device: its record, the pod behind it, and how it looks from outside.

use std::sync::Arc;

use pods::{Capabilities, Pod, PodFacts};

use store::devices::DeviceRecord;

/// A device on the bench.
pub(super) struct Entry {
    pub record: DeviceRecord,
    /// None if the device's pod is no longer configured.
    pub pod: Option<Pod>,
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Entry")
            .field("record", &self.record)
            .field("attached", &self.pod.is_some())
            .finish()
    }
}

/// A device as seen now.
#[derive(Debug, Clone)]
pub struct Device {
    pub record: DeviceRecord,
    /// What the pod reports about itself; None while it is offline.
    pub facts: Option<Arc<PodFacts>>,
    /// Why it cannot be reached, as a fragment; None while it is online, and before that is known.
    pub away: Option<String>,
}

impl Entry {
    pub(super) fn view(&self) -> Device {
        Device {
            record: self.record.clone(),
            facts: self.pod.as_ref().and_then(Pod::status),
            away: self.pod.as_ref().and_then(Pod::away),
        }
    }
}

impl Device {
    /// What the board can do; None while the pod is offline.
    #[must_use]
    pub fn capabilities(&self) -> Option<&Capabilities> {
        self.facts.as_deref().map(|f| &f.capabilities)
    }
}
