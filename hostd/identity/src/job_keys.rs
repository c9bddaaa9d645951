//! Keys of jobs: each opens one device to the programs of one job, for as long as its guard lives.
//!
//! They look like other keys, since published clients take no other credential, but exist in memory
//! alone: none outlives the process. The host serves them only where the job is, whatever else they
//! are shown to.

use std::fmt;
use std::sync::{Arc, PoisonError};

use super::error::AuthError;
use super::hash::Digest;
use super::index::UserEntry;
use super::job_tokens::{JobTokens, Tell};
use super::scope::Scope;
use super::verified::Credential;
use super::{Identity, Live, Secret, Verified, credential};
use base::id;
use store::users::Role;

/// Keys of jobs at once: more than jobs run at once on any bench.
const JOB_KEYS_MAX: usize = 1024;

/// What a job's key opens, and for whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobGrant {
    /// Organisation id.
    pub org: String,
    /// Id of the user that the job acts for, whose membership the key ends with.
    pub user: String,
    /// Job id.
    pub job: String,
    /// Id of its run, and the number of the attempt within the job.
    pub run: String,
    pub attempt: u32,
    /// Id of the one device.
    pub device: String,
    /// The lease by which the job has the device. Programs of the job need not know it: the key
    /// stands for it.
    pub lease_id: String,
    /// Owner of that lease.
    pub lease_owner: String,
}

/// Why a job got no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum JobKeyError {
    #[error("give a job a key: its user is disabled, or no longer in its organisation")]
    NoUser,
    #[error("give a job a key: {JOB_KEYS_MAX} jobs have one, the most there can be")]
    TooMany,
}

/// A job's key. Dropping it revokes it, with every session token that was minted from it.
pub struct JobKey {
    live: Arc<Live>,
    kid: Arc<str>,
    secret: Secret,
}

/// What is kept of a job's key.
pub(super) struct JobEntry {
    pub(super) hash: Digest,
    kid: Arc<str>,
    devices: Arc<[String]>,
    grant: Arc<JobGrant>,
    pub(super) tokens: JobTokens,
}

impl JobKey {
    /// The whole text, `<prefix>_<kid>_<secret>`, which exists nowhere else.
    #[must_use]
    pub fn secret(&self) -> &Secret {
        &self.secret
    }

    /// Key id.
    #[must_use]
    pub fn kid(&self) -> &Arc<str> {
        &self.kid
    }
}

impl fmt::Debug for JobKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("JobKey").field(&self.kid).finish()
    }
}

impl Drop for JobKey {
    fn drop(&mut self) {
        let index = &self.live.index;
        let mut index = index.write().unwrap_or_else(PoisonError::into_inner);
        index.jobs.remove(&*self.kid);
        drop(index);
        self.live.changed.send_replace(());
    }
}

impl JobEntry {
    /// Whether the job's user is still who they were when the key was made.
    fn has(&self, user: &UserEntry) -> bool {
        !user.disabled && *user.org == *self.grant.org
    }

    /// Take from a caller, verified by the key or a session minted from it, all that the key does
    /// not open: a job is a member with one device, whatever its user is.
    pub(super) fn narrow(&self, verified: &mut Verified) {
        verified.role = Role::Member;
        verified.kid = Some(self.kid.clone());
        verified.scopes = [Scope::BenchControl].into();
        verified.devices = Some(self.devices.clone());
        verified.job = Some(self.grant.clone());
    }
}

impl Identity {
    /// A key for a job. It carries the scope `bench:control` for the one device, with the role of a
    /// member, and ends with its guard, with this process, or with the user's membership in the
    /// organisation. `tell` is told the session tokens that programs mint from it.
    ///
    /// # Errors
    /// The user is not an enabled member of the organisation, or there are too many keys of jobs.
    pub fn job_key_open(&self, grant: JobGrant, tell: Tell) -> Result<JobKey, JobKeyError> {
        let kid = self.new_kid();
        let secret = id::base62(credential::SECRET_LEN);
        let entry = JobEntry {
            hash: self.hasher.key(&kid, &secret),
            kid: kid.as_str().into(),
            devices: [grant.device.clone()].into(),
            grant: Arc::new(grant),
            tokens: JobTokens::new(tell),
        };
        let index = &self.live.index;
        let mut index = index.write().unwrap_or_else(PoisonError::into_inner);
        let user = index.users.get(&entry.grant.user);
        if !user.is_some_and(|user| entry.has(user)) {
            return Err(JobKeyError::NoUser);
        }
        if index.jobs.len() >= JOB_KEYS_MAX {
            return Err(JobKeyError::TooMany);
        }
        let text = Secret::new(format!("{}_{kid}_{secret}", self.prefix));
        let key = JobKey {
            live: self.live.clone(),
            kid: entry.kid.clone(),
            secret: text,
        };
        index.jobs.insert(kid, Arc::new(entry));
        Ok(key)
    }

    pub(super) fn job_entry(&self, kid: &str) -> Option<Arc<JobEntry>> {
        self.index().jobs.get(kid).cloned()
    }

    /// The caller that a job's key with a matching secret stands for.
    pub(super) fn job(&self, entry: &JobEntry) -> Result<Verified, AuthError> {
        let user = self.index().users.get(&entry.grant.user).cloned();
        let user = user.filter(|user| entry.has(user));
        let user = user.ok_or(AuthError::Revoked)?;
        let mut verified = Verified {
            org: user.org.clone(),
            user: user.id.clone(),
            role: user.role,
            credential: Credential::ApiKey,
            kid: None,
            scopes: Arc::default(),
            devices: None,
            session: None,
            root: None,
            epoch: None,
            claims: None,
            job: None,
        };
        entry.narrow(&mut verified);
        Ok(verified)
    }
}
