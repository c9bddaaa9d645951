//! Table of refresh tokens: one record per sign-in that renews itself. A token names its record and
//! carries two secrets. The first stays, the second changes at every use, so an old token differs
//! from a guessed one and reveals that somebody has a copy.

use serde::{Deserialize, Serialize};

use super::records::Records;
use super::snapshot::Source;
use super::{Store, StoreError, Writing};

pub(super) const TABLES: [&str; 1] = ["refreshes"];

const REFRESHES: Records<Refresh> = Records::new(TABLES[0]);

/// A sign-in that renews itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refresh {
    /// ULID; sessions of this sign-in name it as their parent.
    pub id: String,
    /// User id.
    pub user: String,
    /// The user's epoch at sign-in.
    pub epoch: u32,
    /// HMAC-SHA-256 of the secret that stays, base 64.
    pub family_hash: String,
    /// HMAC-SHA-256 of the secret that is valid for the next use, base 64.
    pub next_hash: String,
    pub expires_ms: u64,
}

/// What became of a refresh token that was presented.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rotation {
    /// It was the current one; here is the updated record.
    Rotated(Refresh),
    /// It had been used before, so the sign-in was deleted; here is its former record.
    Reused(Refresh),
    /// Unknown, expired, or guessed.
    Unknown,
}

impl Store {
    /// Store a sign-in; drops those expired at `now_ms`, and the user's oldest if they already have
    /// `per_user_max`.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn refresh_add(
        &self,
        refresh: Refresh,
        per_user_max: usize,
        now_ms: u64,
    ) -> Result<(), StoreError> {
        self.write(move |w| {
            let mut own = Vec::new();
            for old in REFRESHES.all(w)? {
                if old.expires_ms <= now_ms {
                    REFRESHES.remove(w, &old.id)?;
                } else if old.user == refresh.user {
                    own.push(old.id);
                }
            }
            // Ids sort by time.
            let over = (own.len() + 1).saturating_sub(per_user_max);
            for id in own.iter().take(over) {
                REFRESHES.remove(w, id)?;
            }
            REFRESHES.put(w, &refresh.id, &refresh)
        })
        .await
    }

    /// Exchange the token of sign-in `id` whose secrets have these hashes for one with `new_hash`.
    /// A token that was used before ends the sign-in.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn refresh_rotate(
        &self,
        id: &str,
        family_hash: String,
        next_hash: String,
        new_hash: String,
        now_ms: u64,
    ) -> Result<Rotation, StoreError> {
        let id = id.to_owned();
        self.write(move |w| {
            let found = REFRESHES.get(w, &id)?;
            let Some(mut record) =
                found.filter(|r| r.family_hash == family_hash && now_ms < r.expires_ms)
            else {
                return Ok(Rotation::Unknown);
            };
            if record.next_hash != next_hash {
                REFRESHES.remove(w, &id)?;
                return Ok(Rotation::Reused(record));
            }
            record.next_hash.clone_from(&new_hash);
            REFRESHES.put(w, &id, &record)?;
            Ok(Rotation::Rotated(record))
        })
        .await
    }

    /// Delete a sign-in; returns whether there was one.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn refresh_remove(&self, id: &str) -> Result<bool, StoreError> {
        let id = id.to_owned();
        self.write(move |w| REFRESHES.remove(w, &id)).await
    }
}

/// Whether there is a sign-in with this id and family, even an expired one.
///
/// # Errors
/// The storage failed.
pub fn has(from: &impl Source, id: &str, family_hash: &str) -> Result<bool, StoreError> {
    let found = REFRESHES.get(from, id)?;
    Ok(found.is_some_and(|refresh| refresh.family_hash == family_hash))
}

/// Delete all sign-ins of a user.
pub(super) fn remove_of(w: &Writing<'_>, user: &str) -> Result<(), StoreError> {
    for record in REFRESHES.all(w)? {
        if record.user == user {
            REFRESHES.remove(w, &record.id)?;
        }
    }
    Ok(())
}

/// How many there are, for tests.
///
/// # Errors
/// The storage failed.
pub fn count(from: &impl Source) -> Result<usize, StoreError> {
    Ok(REFRESHES.all(from)?.len())
}
