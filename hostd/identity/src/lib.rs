//! Who may do what: organisations, users, API keys, sessions.
//!
//! ```text
//! request ── credential ── key:   index ── HMAC compare ──┐
//!                       └─ token: Ed25519 ── index ───────┴─> Verified ──> scope, role, devices
//! ```
//!
//! Verifying a request reads memory only. Changes go to the store first and are seen by the next
//! request. Secrets are stored as keyed hashes; what must be shown once travels as [`Secret`].

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use base::clock::Clock;
use base::config::REMEMBER_DAYS;
use store::trust::{self as trust_rules, TrustRule};
use store::users::Role;
use store::{Store, StoreError, keys, orgs, revocations, users};

mod bootstrap;
mod credential;
mod error;
mod hash;
mod index;
mod job_keys;
mod job_tokens;
mod key_admin;
mod links;
mod mint;
pub mod offline;
pub mod oidc;
mod password;
mod people;
mod renewal;
mod rotation;
pub mod scope;
mod secret;
mod sessions;
mod standing;
mod throttle;
mod token;
mod trust;
mod user_admin;
mod verified;

#[cfg(test)]
mod tests;

pub use bootstrap::{DemoKey, First};
pub use credential::{COOKIE_NAME, CREDENTIAL_BYTES_MAX, SECURE_COOKIE_NAME};
pub use error::{AuthError, IdentityError, KeyError, SignInError, TokenError, UserChangeError};
pub use job_keys::{JobGrant, JobKey, JobKeyError};
pub use job_tokens::{JOB_TOKENS_MAX, Tell};
pub use key_admin::CreatedKey;
pub use links::MadeLink;
pub use mint::{Minted, TTL_S_DEFAULT, TTL_S_MAX, TTL_S_MIN};
pub use password::{PASSWORD_CHARS, PasswordError};
pub use people::{OneTimeCode, PeopleError};
pub use renewal::Renewal;
pub use secret::Secret;
pub use sessions::{CODE_TTL_S, SESSION_TTL_S, SignedIn, Stay};
pub use throttle::Origin;
pub use trust::{NewRule, RuleEdit, TrustError};
pub use verified::{Credential, Verified};

use credential::{KeyText, Presented};
use hash::{Digest, Hasher};
use index::{Index, KeyEntry, UserEntry};
use password::Passwords;
use scope::Scope;
use throttle::Throttle;
use token::{Claims, Signer, TokenType};

/// Seconds of a day.
const DAY_S: u32 = 24 * 3600;

/// How long past its expiry a token is accepted, for clocks that were just set.
const EXPIRY_LEEWAY_S: u64 = 2;

/// Everything about who is who. One per server.
pub struct Identity {
    store: Store,
    clock: Clock,
    /// First part of new keys.
    prefix: String,
    hasher: Hasher,
    signer: Arc<Signer>,
    passwords: Passwords,
    throttle: Throttle,
    live: Arc<Live>,
    default_org: String,
    /// Lifetime of a sign-in that a browser remembers, in seconds.
    remembered_s: u32,
}

/// The index, and what keeps it in step with the store.
#[derive(Default)]
struct Live {
    index: RwLock<Index>,
    /// Held from a write to the store until the index follows, so that both change in the same
    /// order.
    changes: tokio::sync::Mutex<()>,
    /// Notified after each change, for work under a credential that may no longer be valid.
    changed: tokio::sync::watch::Sender<()>,
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Identity")
    }
}

impl Identity {
    /// Read keys and users. On the first start this makes the server's secrets, the organisation
    /// `default` and its user `owner`. `prefix` is the first part of new keys.
    ///
    /// # Errors
    /// The store failed, or holds something that cannot be read.
    pub async fn open(store: Store, clock: Clock, prefix: &str) -> Result<Self, IdentityError> {
        let secrets = bootstrap::ensure_secrets(&store, &clock).await?;
        let default_org = bootstrap::ensure_first(&store, &clock).await?;
        let mut index = Index::default();
        let (all_users, all_keys, ended) = store
            .read(|s| Ok::<_, IdentityError>((users::all(s)?, keys::all(s)?, revocations::all(s)?)))
            .await?;
        let rules = store.read(trust_rules::all).await?;
        let by_id = |rule: TrustRule| (rule.id.clone(), Arc::new(rule));
        index.rules.extend(rules.into_iter().map(by_id));
        for user in &all_users {
            index.put_user(user);
        }
        let now_ms = clock.now_ms();
        if all_keys.iter().any(|key| key.is_forgettable(now_ms)) {
            store.keys_forget_revoked(now_ms);
        }
        for key in all_keys {
            index.put_key(key);
        }
        index.ended.extend(ended);
        Ok(Self {
            hasher: Hasher::new(bootstrap::hash_key(&secrets)?),
            signer: Arc::new(Signer::new(&secrets)?),
            store,
            clock,
            prefix: prefix.to_owned(),
            passwords: Passwords::new(),
            throttle: Throttle::new(),
            live: Arc::new(Live {
                index: RwLock::new(index),
                ..Live::default()
            }),
            default_org,
            remembered_s: REMEMBER_DAYS * DAY_S,
        })
    }

    /// With another lifetime, in days, of sign-ins that browsers remember.
    #[must_use]
    pub fn remembering(self, days: u32) -> Self {
        Self {
            remembered_s: days.saturating_mul(DAY_S),
            ..self
        }
    }

    /// Id of the organisation `default`.
    #[must_use]
    pub fn default_org(&self) -> String {
        self.default_org.clone()
    }

    /// Verify the credential of a request: the `Authorization` header, else the `token` of the
    /// query, else the session cookie. Does no I/O.
    ///
    /// # Errors
    /// There is none, or it is invalid, expired or revoked.
    pub fn authenticate(
        &self,
        authorization: Option<&str>,
        cookie: Option<&str>,
        query_token: Option<&str>,
    ) -> Result<Verified, AuthError> {
        match credential::find(authorization, cookie, query_token)? {
            Presented::Key(key) => self.verify_key(key),
            Presented::Token(token) => self.verify_token(token),
        }
    }

    fn verify_key(&self, text: KeyText<'_>) -> Result<Verified, AuthError> {
        let presented = self.hasher.key(text.kid, text.secret);
        if let Some(job) = self.job_entry(text.kid) {
            return match presented.matches(&job.hash) {
                true => self.job(&job),
                false => Err(AuthError::Invalid),
            };
        }
        let (entry, user) = self.key_and_owner(text.kid);
        // An unknown key id takes as long as a known one.
        let stored = entry.as_ref().map_or(Digest::NONE, |e| e.hash);
        let matches = presented.matches(&stored);
        let entry = entry.filter(|_| matches).ok_or(AuthError::Invalid)?;
        let verified = self.key(&entry, user)?;
        let now_ms = self.clock.now_ms();
        if entry.used(now_ms) {
            self.store.key_used(&entry.kid, now_ms);
        }
        Ok(verified)
    }

    fn key_and_owner(&self, kid: &str) -> (Option<Arc<KeyEntry>>, Option<Arc<UserEntry>>) {
        let index = self.index();
        let entry = index.keys.get(kid).cloned();
        let owner = entry.as_ref().map(|e| e.record.owner.as_str());
        let user = owner.and_then(|id| index.users.get(id)).cloned();
        (entry, user)
    }

    /// The caller that a key with a matching secret stands for.
    fn key(&self, entry: &KeyEntry, user: Option<Arc<UserEntry>>) -> Result<Verified, AuthError> {
        let user = user.filter(|u| !u.disabled).ok_or(AuthError::Revoked)?;
        check_key(entry, self.clock.now_ms())?;
        Ok(Verified {
            org: user.org.clone(),
            user: user.id.clone(),
            role: user.role,
            credential: Credential::ApiKey,
            kid: Some(entry.kid.clone()),
            scopes: within_role(&entry.scopes, user.role),
            devices: None,
            session: None,
            root: None,
            epoch: None,
            claims: None,
            job: None,
        })
    }

    fn verify_token(&self, text: &str) -> Result<Verified, AuthError> {
        let claims = self.signer.verify(text)?;
        self.session(&claims)
    }

    /// The caller that a token of this server stands for.
    fn session(&self, claims: &Arc<Claims>) -> Result<Verified, AuthError> {
        let now_ms = self.clock.now_ms();
        if claims.exp.saturating_add(EXPIRY_LEEWAY_S) <= now_ms / 1000 {
            return Err(AuthError::Expired);
        }
        let (user, key, rule, job) = {
            let index = self.index();
            let mut ids = [Some(&claims.jti), claims.parent.as_ref()].into_iter();
            if ids.any(|id| id.is_some_and(|id| index.ended.contains_key(id))) {
                return Err(AuthError::Revoked);
            }
            let job = claims.kid.as_ref().and_then(|kid| index.jobs.get(kid));
            let key = claims.kid.as_ref().filter(|_| job.is_none());
            let key = key.map(|kid| index.keys.get(kid).cloned());
            let rule = claims.rule.as_ref().map(|id| index.rules.get(id).cloned());
            let user = index.users.get(&claims.sub).cloned();
            (user, key, rule, job.cloned())
        };
        let live = |rule: &Arc<TrustRule>| {
            rule.enabled && rule.user == claims.sub && rule.org == claims.org
        };
        let rule = match rule {
            Some(rule) => Some(rule.filter(live).ok_or(AuthError::Revoked)?),
            None => None,
        };
        let user = user
            .filter(|u| !u.disabled && *u.org == *claims.org)
            .ok_or(AuthError::Revoked)?;
        if claims.epoch.is_some_and(|epoch| epoch != user.epoch) {
            return Err(AuthError::Revoked);
        }
        let key = match key {
            Some(key) => {
                let key = key.ok_or(AuthError::Revoked)?;
                check_key(&key, now_ms)?;
                Some(key)
            }
            None => None,
        };
        let mut verified = of_session(claims, &user, key.as_deref());
        if let Some(rule) = rule {
            // The rule as it is now, whatever it was when the token was made; it only allows
            // driving devices.
            verified.devices = rule.devices.as_deref().map(Arc::from);
            verified.scopes = [Scope::BenchControl].into();
        }
        if let Some(job) = job {
            job.narrow(&mut verified);
        }
        Ok(verified)
    }

    fn index(&self) -> RwLockReadGuard<'_, Index> {
        // Entries are replaced as a whole, so a panic elsewhere cannot leave half of one.
        let index = &self.live.index;
        index.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Write to the store, then update the index. Completes even if the caller goes away in
    /// between: a revocation that is on disk must not be missing in memory.
    async fn change<T, E>(
        &self,
        write: impl Future<Output = Result<T, E>> + Send + 'static,
        follow: impl FnOnce(&mut Index, &T) + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let live = self.live.clone();
        let work = tokio::spawn(async move {
            let _order = live.changes.lock().await;
            let done = write.await?;
            let mut index = live.index.write().unwrap_or_else(PoisonError::into_inner);
            follow(&mut index, &done);
            drop(index);
            live.changed.send_replace(());
            Ok(done)
        });
        work.await
            .unwrap_or_else(|_| Err(StoreError::Panicked.into()))
    }

    /// All organisations, oldest first.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn orgs(&self) -> Result<Vec<orgs::Org>, StoreError> {
        self.store.read(orgs::all).await
    }
}

fn check_key(key: &KeyEntry, now_ms: u64) -> Result<(), AuthError> {
    if key.is_revoked() {
        return Err(AuthError::Revoked);
    }
    if key.is_expired(now_ms) {
        return Err(AuthError::Expired);
    }
    Ok(())
}

/// Scopes that a credential of a user with `role` can carry: a key gives no administration rights
/// that the role lacks.
fn within_role(scopes: &Arc<[Scope]>, role: Role) -> Arc<[Scope]> {
    if role >= Role::Admin || !scopes.contains(&Scope::BenchAdmin) {
        return scopes.clone();
    }
    let allowed = |scope: &Scope| *scope != Scope::BenchAdmin;
    scopes.iter().copied().filter(allowed).collect()
}

/// A session token has the bench scopes of the key it came from, or of the role.
fn session_scopes(key: Option<&KeyEntry>, role: Role) -> Arc<[Scope]> {
    let bench = [Scope::BenchControl, Scope::BenchAdmin];
    let granted = |scope: &Scope| key.is_none_or(|key| key.scopes.contains(scope));
    within_role(&bench.into_iter().filter(granted).collect(), role)
}

fn of_session(claims: &Arc<Claims>, user: &UserEntry, key: Option<&KeyEntry>) -> Verified {
    let (credential, scopes) = match claims.typ {
        TokenType::UserSession => (Credential::UserSession, Arc::default()),
        TokenType::CloudSession => (Credential::CloudSession, session_scopes(key, user.role)),
    };
    Verified {
        org: user.org.clone(),
        user: user.id.clone(),
        role: user.role,
        credential,
        kid: key.map(|key| key.kid.clone()),
        scopes,
        devices: claims.devices.as_deref().map(Arc::from),
        session: Some((claims.jti.as_str().into(), claims.exp)),
        root: Some(
            claims
                .parent
                .as_ref()
                .unwrap_or(&claims.jti)
                .as_str()
                .into(),
        ),
        epoch: claims.epoch,
        claims: Some(claims.clone()),
        job: None,
    }
}
