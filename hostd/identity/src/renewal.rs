//! Sign-ins that renew themselves: a short session, and a single-use refresh token that yields the
//! next pair. A token used a second time was copied, so the sign-in ends.

use tracing::{info, warn};

use super::error::SignInError;
use super::{Identity, Secret, credential};
use base::id;
use store::refreshes::{self, Refresh, Rotation};
use store::users::{self, User};

/// Lifetime of a renewable session, in seconds.
pub(super) const RENEWED_SESSION_TTL_S: u32 = 3600;

/// How long a sign-in can be renewed, in seconds: 30 days.
const REFRESH_TTL_S: u32 = 30 * 24 * 3600;

/// Renewable sign-ins per user; the oldest is dropped.
const PER_USER_MAX: usize = 20;

/// First part of a refresh token.
const PREFIX: &str = "rt";

/// Characters of each of the two secrets: 131 bits.
const SECRET_LEN: usize = 22;

/// A refresh token with its sign-in.
#[derive(Debug, Clone)]
pub struct Renewal {
    pub token: Secret,
    /// Id of the sign-in.
    pub id: String,
    /// Whole seconds.
    pub expires_at_ms: u64,
    pub expires_in_s: u32,
}

/// The parts of `rt_<id>_<family><next>`.
struct Text<'t> {
    id: &'t str,
    family: &'t str,
    next: &'t str,
}

fn parse(text: &str) -> Option<Text<'_>> {
    let mut parts = text.split('_');
    let (prefix, id, secrets) = (parts.next()?, parts.next()?, parts.next()?);
    let well_formed = prefix == PREFIX
        && id::is_ulid(id)
        && secrets.len() == 2 * SECRET_LEN
        && id::is_base62(secrets)
        && parts.next().is_none();
    let (family, next) = well_formed.then(|| secrets.split_at(SECRET_LEN))?;
    Some(Text { id, family, next })
}

impl Identity {
    /// Begin a sign-in that renews itself.
    pub(super) async fn begin_renewal(&self, user: &User) -> Result<Renewal, SignInError> {
        let (family, next) = (id::base62(SECRET_LEN), id::base62(SECRET_LEN));
        let now_ms = self.clock.now_ms();
        let record = Refresh {
            id: id::ulid(&self.clock),
            user: user.id.clone(),
            epoch: user.epoch,
            family_hash: self.hasher.refresh(&family).to_text(),
            next_hash: self.hasher.refresh(&next).to_text(),
            expires_ms: now_ms / 1000 * 1000 + 1000 * u64::from(REFRESH_TTL_S),
        };
        let renewal = renewal(&record, &family, &next, now_ms);
        self.store.refresh_add(record, PER_USER_MAX, now_ms).await?;
        Ok(renewal)
    }

    /// Exchange a refresh token for a session and the next refresh token.
    ///
    /// # Errors
    /// The token is unknown, expired, or was used before, which ends its sign-in and every session
    /// of it; or the storage failed.
    pub async fn renew(&self, token: &str) -> Result<super::SignedIn, SignInError> {
        if token.len() > credential::CREDENTIAL_BYTES_MAX {
            return Err(SignInError::Rejected);
        }
        let text = parse(token).ok_or(SignInError::Rejected)?;
        let next = id::base62(SECRET_LEN);
        let now_ms = self.clock.now_ms();
        let hash = |secret: &str| self.hasher.refresh(secret).to_text();
        let (id, family) = (text.id.to_owned(), hash(text.family));
        // Anybody can make one up, which must not make the server write.
        if !self
            .store
            .read(move |s| refreshes::has(s, &id, &family))
            .await?
        {
            return Err(SignInError::Rejected);
        }
        let rotation = self.store.refresh_rotate(
            text.id,
            hash(text.family),
            hash(text.next),
            hash(&next),
            now_ms,
        );
        let record = match rotation.await? {
            Rotation::Rotated(record) => record,
            Rotation::Reused(record) => {
                warn!(
                    user = record.user,
                    sign_in = record.id,
                    "a refresh token was used twice; its sign-in has ended"
                );
                self.end_root(&record.id, 0).await?;
                return Err(SignInError::Rejected);
            }
            Rotation::Unknown => return Err(SignInError::Rejected),
        };
        let id = record.user.clone();
        let user = self.store.read(move |s| users::by_id(s, &id)).await?;
        let user = user
            .filter(|u| !u.disabled && u.epoch == record.epoch)
            .ok_or(SignInError::Rejected)?;
        info!(user = user.id, sign_in = record.id, "session renewed");
        let renewal = renewal(&record, text.family, &next, now_ms);
        self.session_for(&user, Some(renewal), RENEWED_SESSION_TTL_S)
            .await
    }
}

fn renewal(record: &Refresh, family: &str, next: &str, now_ms: u64) -> Renewal {
    let left_s = record.expires_ms.saturating_sub(now_ms).div_ceil(1000);
    Renewal {
        token: Secret::new(format!("{PREFIX}_{}_{family}{next}", record.id)),
        id: record.id.clone(),
        expires_at_ms: record.expires_ms,
        expires_in_s: u32::try_from(left_s).unwrap_or(REFRESH_TTL_S),
    }
}
