//! How much space an organisation's captures may take. Usage is loaded from the store at the start
//! and counted from then on; the oldest captures that are neither named nor pinned are deleted
//! to make room.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tracing::info;

use super::files::Files;
use super::{CaptureError, Captures};
use base::config::{AtQuota, CapturesConfig};
use store::StoreError;
use store::captures::{self, CaptureRecord};

/// Number and size of captures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    pub count: u64,
    /// Of the samples on disk.
    pub bytes: u64,
}

/// What is in use, by organisation.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    orgs: Mutex<HashMap<String, Usage>>,
    /// Pinned captures of all of them.
    pinned: AtomicU64,
    /// Pyramids that were made again since the start.
    raised: AtomicU64,
}

impl Usage {
    fn plus(self, other: Self) -> Self {
        Self {
            count: self.count.saturating_add(other.count),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }

    fn minus(self, other: Self) -> Self {
        Self {
            count: self.count.saturating_sub(other.count),
            bytes: self.bytes.saturating_sub(other.bytes),
        }
    }

    fn limit(config: &CapturesConfig) -> Self {
        Self {
            count: config.count_max.into(),
            bytes: u64::from(config.quota_mib) << 20,
        }
    }

    fn is_none(self) -> bool {
        self == Self::default()
    }
}

impl Ledger {
    /// Take `more` for `org`; if that exceeds `limit`, how much would have to go first.
    fn claim(&self, org: &str, more: Usage, limit: Usage) -> Result<(), Usage> {
        let mut orgs = self.lock();
        let used = orgs.entry(org.to_owned()).or_default();
        let wanted = used.plus(more);
        let over = wanted.minus(limit);
        if over.is_none() {
            *used = wanted;
            return Ok(());
        }
        Err(over)
    }

    pub(super) fn add(&self, org: &str, more: Usage) {
        let mut orgs = self.lock();
        let used = orgs.entry(org.to_owned()).or_default();
        *used = used.plus(more);
    }

    pub(super) fn give_back(&self, org: &str, less: Usage) {
        if let Some(used) = self.lock().get_mut(org) {
            *used = used.minus(less);
        }
    }

    /// Of all organisations together.
    pub(super) fn total(&self) -> Usage {
        let orgs = self.lock();
        orgs.values().fold(Usage::default(), |sum, u| sum.plus(*u))
    }

    pub(super) fn orgs(&self) -> Vec<String> {
        self.lock().keys().cloned().collect()
    }

    /// Count what a change of a record means.
    pub(super) fn repin(&self, before: &CaptureRecord, after: &CaptureRecord) {
        match (before.marks.pinned, after.marks.pinned) {
            (false, true) => self.pinned.fetch_add(1, Ordering::Relaxed),
            (true, false) => self.pinned.fetch_sub(1, Ordering::Relaxed),
            (true, true) | (false, false) => return,
        };
    }

    /// Count pyramids that were made.
    pub(super) fn raised(&self, pyramids: usize) {
        self.raised.fetch_add(pyramids as u64, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Usage>> {
        // Each change is one assignment, so a panic elsewhere leaves a valid map.
        self.orgs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a stored capture counts as. An unfinished one accounts for its bytes itself.
pub(super) fn usage_of(files: &Files, record: &CaptureRecord) -> Usage {
    let bytes = match record.size_bytes {
        Some(bytes) => bytes,
        None if record.status.is_final() => files.size_bytes(&record.id),
        None => 0,
    };
    Usage { count: 1, bytes }
}

impl Captures {
    /// Space taken by all captures of all organisations.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.ledger.total()
    }

    /// Pinned captures of all organisations.
    #[must_use]
    pub fn pinned(&self) -> u64 {
        self.ledger.pinned.load(Ordering::Relaxed)
    }

    /// Pyramids that were made again since the start.
    #[must_use]
    pub fn pyramids_raised(&self) -> u64 {
        self.ledger.raised.load(Ordering::Relaxed)
    }

    /// Count what is stored. Call before anything is added.
    pub(super) async fn count(&self) -> Result<(), StoreError> {
        let files = self.files.clone();
        let read = self.store.read(move |s| {
            let (mut found, mut pinned) = (HashMap::<String, Usage>::new(), 0);
            captures::each(s, |record| {
                pinned += u64::from(record.marks.pinned);
                let used = found.entry(record.org.clone()).or_default();
                *used = used.plus(usage_of(&files, &record));
            })?;
            Ok::<_, StoreError>((found, pinned))
        });
        let (found, pinned) = read.await?;
        self.ledger.pinned.store(pinned, Ordering::Relaxed);
        for (org, used) in found {
            self.ledger.add(&org, used);
        }
        Ok(())
    }

    /// Take `more` of the organisation's quota. If the configuration says so, the oldest finished
    /// captures that are neither named nor pinned are deleted, but only if that makes enough room.
    ///
    /// # Errors
    /// There is no room, or the store fails.
    pub(super) async fn claim(
        self: &Arc<Self>,
        org: &str,
        more: Usage,
    ) -> Result<(), CaptureError> {
        // One at a time, or two calls would each delete enough for both.
        let order = {
            let mut orders = self
                .making_room
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            orders.entry(org.to_owned()).or_default().clone()
        };
        let _order = order.lock().await;
        let limit = Usage::limit(&self.config);
        let Err(over) = self.ledger.claim(org, more, limit) else {
            return Ok(());
        };
        if self.config.at_quota == AtQuota::Refuse {
            return Err(self.full(over));
        }
        let files = self.files.clone();
        let owner = org.to_owned();
        let read = self.store.read(move |s| {
            let (mut victims, mut freed) = (Vec::new(), Usage::default());
            captures::giving_way(s, &owner, |record| {
                freed = freed.plus(usage_of(&files, &record));
                victims.push(record.id);
                if over.minus(freed).is_none() {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            })?;
            Ok::<_, StoreError>(over.minus(freed).is_none().then_some(victims))
        });
        let victims = read.await?.ok_or_else(|| self.full(over))?;
        for id in &victims {
            // One that was pinned meanwhile stays, and the claim is refused.
            if self.forget(id).await? {
                info!(capture = id, "gave way to a newer capture");
            }
        }
        let claimed = self.ledger.claim(org, more, limit);
        claimed.map_err(|over| self.full(over))
    }

    /// Which limit it is.
    fn full(&self, over: Usage) -> CaptureError {
        if over.count > 0 {
            CaptureError::Full {
                what: "captures of the organisation (captures.count_max)",
                max: self.config.count_max.into(),
            }
        } else {
            CaptureError::Full {
                what: "MiB of captures of the organisation (captures.quota_mib)",
                max: self.config.quota_mib.into(),
            }
        }
    }
}

#[cfg(test)]
mod tests;
