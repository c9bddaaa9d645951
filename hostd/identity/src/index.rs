//! Keys, users and ended sessions in memory, so that verifying a request touches no disk. Follows
//! the store: a change is durable before it is seen here.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tracing::warn;

use super::hash::Digest;
use super::job_keys::JobEntry;
use super::scope::Scope;
use store::keys::Key;
use store::trust::TrustRule;
use store::users::{Role, User};

/// How often the time of a key's last use is written.
const LAST_USED_INTERVAL_MS: u64 = 60_000;

#[derive(Default)]
pub(super) struct Index {
    pub(super) keys: HashMap<String, Arc<KeyEntry>>,
    /// Keys of jobs, which no store knows.
    pub(super) jobs: HashMap<String, Arc<JobEntry>>,
    pub(super) users: HashMap<String, Arc<UserEntry>>,
    /// Trust rules by id.
    pub(super) rules: HashMap<String, Arc<TrustRule>>,
    /// Ended sessions: token id to the instant (ms) the token expires.
    pub(super) ended: HashMap<String, u64>,
}

pub(super) struct KeyEntry {
    pub(super) record: Key,
    pub(super) kid: Arc<str>,
    pub(super) hash: Digest,
    pub(super) scopes: Arc<[Scope]>,
    /// 0 = never.
    last_used_ms: AtomicU64,
    last_written_ms: AtomicU64,
}

pub(super) struct UserEntry {
    pub(super) id: Arc<str>,
    pub(super) org: Arc<str>,
    pub(super) role: Role,
    pub(super) disabled: bool,
    pub(super) epoch: u32,
}

impl Index {
    pub(super) fn put_key(&mut self, record: Key) {
        let entry = KeyEntry::new(record);
        if let Some(old) = self.keys.get(&*entry.kid) {
            entry.take_over(old);
        }
        self.keys.insert(entry.kid.to_string(), Arc::new(entry));
    }

    pub(super) fn put_user(&mut self, user: &User) {
        let entry = UserEntry {
            id: user.id.as_str().into(),
            org: user.org.as_str().into(),
            role: user.role,
            disabled: user.disabled,
            epoch: user.epoch,
        };
        self.users.insert(user.id.clone(), Arc::new(entry));
    }

    /// End a session; forgets those whose tokens have expired.
    pub(super) fn end(&mut self, jti: &str, expires_ms: u64, now_ms: u64) {
        self.ended.retain(|_, expires_ms| *expires_ms > now_ms);
        self.ended.insert(jti.to_owned(), expires_ms);
    }
}

impl KeyEntry {
    fn new(record: Key) -> Self {
        let hash = Digest::parse(&record.hash).unwrap_or_else(|| {
            warn!(
                kid = record.kid,
                "the stored hash of this key is damaged; it lets nobody in"
            );
            Digest::NONE
        });
        let last_used_ms = record.last_used_at_ms.unwrap_or(0);
        Self {
            kid: record.kid.as_str().into(),
            hash,
            scopes: record
                .scopes
                .iter()
                .filter_map(|s| Scope::parse(s))
                .collect(),
            last_used_ms: AtomicU64::new(last_used_ms),
            last_written_ms: AtomicU64::new(last_used_ms),
            record,
        }
    }

    fn take_over(&self, old: &Self) {
        for (to, from) in [
            (&self.last_used_ms, &old.last_used_ms),
            (&self.last_written_ms, &old.last_written_ms),
        ] {
            to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }

    /// Note a use; returns whether it is time to store it.
    pub(super) fn used(&self, now_ms: u64) -> bool {
        self.last_used_ms.fetch_max(now_ms, Ordering::Relaxed);
        let written_ms = self.last_written_ms.load(Ordering::Relaxed);
        if now_ms < written_ms.saturating_add(LAST_USED_INTERVAL_MS) {
            return false;
        }
        // Of several concurrent requests, one writes.
        self.last_written_ms
            .compare_exchange(written_ms, now_ms, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    }

    /// The record with the latest use.
    pub(super) fn shown(&self) -> Key {
        let last_used_ms = self.last_used_ms.load(Ordering::Relaxed);
        Key {
            last_used_at_ms: (last_used_ms > 0).then_some(last_used_ms),
            ..self.record.clone()
        }
    }

    pub(super) fn is_revoked(&self) -> bool {
        self.record.revoked_at_ms.is_some()
    }

    pub(super) fn is_expired(&self, now_ms: u64) -> bool {
        self.record.expires_at_ms.is_some_and(|at| at <= now_ms)
    }
}
