//! The session tokens of one job. Published clients ask for one with each connection: a program that asks again gets the
//! same one while it is fresh, so that they stay few, and whoever keeps the job's log clean is told of each before
//! anybody has it.

use std::sync::{Mutex, PoisonError};

use super::EXPIRY_LEEWAY_S;
use super::error::TokenError;
use super::secret::Secret;

/// Tokens of one job that stand at once.
pub const JOB_TOKENS_MAX: usize = 64;

/// Is told all tokens of a job that stand, whenever they become others and before anybody is given a new one. False: it
/// cannot keep them out of the job's log, and the new one is not given.
pub type Tell = Box<dyn Fn(&[&str]) -> bool + Send + Sync>;

/// A token of a job.
#[derive(Clone)]
pub(super) struct JobToken {
    pub(super) token: Secret,
    pub(super) id: String,
    /// How long it was to stand when it was asked for.
    pub(super) ttl_s: u32,
    pub(super) expires_s: u64,
}

/// Those of one job.
pub(super) struct JobTokens {
    standing: Mutex<Vec<JobToken>>,
    tell: Tell,
}

impl JobTokens {
    pub(super) fn new(tell: Tell) -> Self {
        Self {
            standing: Mutex::default(),
            tell,
        }
    }

    /// A token that stands for at least half of `ttl_s`: one that the job has, or a new one. Those that `is_ended` says
    /// have ended are worth nothing to anybody, like expired ones.
    pub(super) fn hand_out(
        &self,
        (now_s, ttl_s): (u64, u32),
        is_ended: impl Fn(&str) -> bool,
        make: impl FnOnce() -> Result<JobToken, TokenError>,
    ) -> Result<JobToken, TokenError> {
        let standing = self.standing.lock();
        let mut standing = standing.unwrap_or_else(PoisonError::into_inner);
        standing.retain(|token| now_s < token.expires_s + EXPIRY_LEEWAY_S && !is_ended(&token.id));
        let half_s = u64::from(ttl_s) / 2;
        let is_fresh = |token: &&JobToken| {
            token.ttl_s == ttl_s && half_s <= token.expires_s.saturating_sub(now_s)
        };
        if let Some(token) = standing.iter().find(is_fresh) {
            return Ok(token.clone());
        }
        if standing.len() >= JOB_TOKENS_MAX {
            return Err(too_many());
        }
        let token = make()?;
        let all = standing.iter().chain([&token]);
        let all: Vec<&str> = all.map(|token| token.token.expose()).collect();
        if !(self.tell)(&all) {
            return Err(too_many());
        }
        standing.push(token.clone());
        Ok(token)
    }
}

fn too_many() -> TokenError {
    TokenError::Invalid {
        field: "ttl_seconds",
        message: format!(
            "must be one that this job has asked for before: {JOB_TOKENS_MAX} of its tokens stand, the most there can be"
        ),
    }
}
