//! People signing in and out.

use tracing::info;

use super::error::SignInError;
use super::password::{PASSWORD_CHARS, PasswordError, Turn};
use super::renewal::{RENEWED_SESSION_TTL_S, Renewal};
use super::throttle::{Attempt, Origin};
use super::token::{Claims, TokenType};
use super::user_admin::LOGIN_BYTES_MAX;
use super::{EXPIRY_LEEWAY_S, Identity, Secret, TTL_S_MAX, Verified};
use crate::verified::Credential;
use base::id;
use store::StoreError;
use store::codes::{self, Code};
use store::users::{self, User, UserError};

/// Lifetime of a user session, in seconds.
pub const SESSION_TTL_S: u32 = 12 * 3600;

/// Lifetime of a one-time sign-in code, in seconds.
pub const CODE_TTL_S: u32 = 15 * 60;

/// Longest text that is tried as a code.
const CODE_BYTES_MAX: usize = 64;

/// Retry delay when too many passwords are being checked, in seconds.
const BUSY_WAIT_S: u32 = 1;

/// How long somebody stays signed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stay {
    /// [`SESSION_TTL_S`]; a browser forgets the session when it is closed.
    Short,
    /// The session is renewed with a refresh token.
    Renewed,
    /// As many days as the configuration says, also when the browser was closed meanwhile.
    Remembered,
}

/// A new user session.
#[derive(Debug, Clone)]
pub struct SignedIn {
    pub token: Secret,
    /// User id.
    pub user: String,
    /// Whole seconds.
    pub expires_at_ms: u64,
    pub expires_in_s: u32,
    /// None = the session ends when it expires.
    pub renewal: Option<Renewal>,
    /// A browser keeps it when it is closed.
    pub is_remembered: bool,
}

impl Identity {
    /// Sign in with a password.
    ///
    /// # Errors
    /// Login and password do not match, there were too many attempts, or the storage failed.
    pub async fn sign_in_password(
        &self,
        origin: Origin,
        login: &str,
        password: String,
        stay: Stay,
    ) -> Result<SignedIn, SignInError> {
        let user = self.check_password(origin, login, password).await?;
        self.start_session(&user, stay).await
    }

    /// The user that login and password belong to.
    pub(super) async fn check_password(
        &self,
        origin: Origin,
        login: &str,
        password: String,
    ) -> Result<User, SignInError> {
        if login.len() > LOGIN_BYTES_MAX || password.chars().count() > *PASSWORD_CHARS.end() {
            return Err(SignInError::Rejected);
        }
        let attempt = self.attempt(origin, Some(login))?;
        let found = self.user_with(attempt.turn, login, password).await;
        self.settle(&attempt, found)
    }

    /// Sign in with a one-time code. It is spent even if its user may not sign in.
    ///
    /// # Errors
    /// The code is unknown, spent or expired, there were too many attempts, or the storage failed.
    pub async fn sign_in_code(
        &self,
        origin: Origin,
        code: &str,
        stay: Stay,
    ) -> Result<SignedIn, SignInError> {
        if code.len() > CODE_BYTES_MAX {
            return Err(SignInError::Rejected);
        }
        let attempt = self.attempt(origin, None)?;
        let found = self.user_of_code(code).await;
        let user = self.settle(&attempt, found)?;
        self.start_session(&user, stay).await
    }

    fn attempt(&self, origin: Origin, login: Option<&str>) -> Result<Attempt, SignInError> {
        let now_ms = self.clock.steady_ms();
        let attempt = self.throttle.attempt(origin, login, now_ms);
        attempt.map_err(|wait_s| SignInError::SlowDown { wait_s })
    }

    /// The consequences of an attempt, for later ones and for the caller.
    fn settle(
        &self,
        attempt: &Attempt,
        found: Result<Option<User>, SignInError>,
    ) -> Result<User, SignInError> {
        match found {
            Ok(Some(user)) => {
                let now_ms = self.clock.steady_ms();
                self.throttle.succeeded(attempt, &user.login, now_ms);
                Ok(user)
            }
            Ok(None) => Err(match attempt.hidden_wait_s {
                Some(wait_s) => SignInError::SlowDown { wait_s },
                None => SignInError::Rejected,
            }),
            Err(e) => {
                self.throttle.take_back(attempt);
                Err(e)
            }
        }
    }

    async fn user_with(
        &self,
        turn: Turn,
        login: &str,
        password: String,
    ) -> Result<Option<User>, SignInError> {
        let wanted = login.to_owned();
        let user = self
            .store
            .read(move |s| users::by_login(s, &wanted))
            .await?;
        // A login that does not exist takes as long as one that does.
        let hash = user.as_ref().and_then(|u| u.password_hash.as_deref());
        match self.passwords.check(turn, &password, hash).await {
            Ok(matches) => Ok(user.filter(|u| matches && !u.disabled)),
            Err(PasswordError::Busy) => Err(SignInError::SlowDown {
                wait_s: BUSY_WAIT_S,
            }),
            Err(e) => Err(e.into()),
        }
    }

    async fn user_of_code(&self, code: &str) -> Result<Option<User>, SignInError> {
        let hash = self.hasher.code(code).to_text();
        let wanted = hash.clone();
        // Most wrong codes are detected without a write.
        if !self.store.read(move |s| codes::has(s, &wanted)).await? {
            return Ok(None);
        }
        let Some(code) = self.store.code_take(&hash, self.clock.now_ms()).await? else {
            return Ok(None);
        };
        let user = self.store.read(move |s| users::by_id(s, &code.user));
        Ok(user.await?.filter(|u| !u.disabled))
    }

    /// End the caller's session. For a sign-in, this also ends its renewal and the session tokens
    /// made from it; a session token ends alone. Does nothing for an API key.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn sign_out(&self, caller: &Verified) -> Result<(), StoreError> {
        let Some((jti, expires_s)) = &caller.session else {
            return Ok(());
        };
        if caller.credential() == Credential::CloudSession {
            return self
                .end(jti, (expires_s + EXPIRY_LEEWAY_S + 1) * 1000)
                .await;
        }
        let root = caller.root.as_ref().unwrap_or(jti);
        self.store.refresh_remove(root).await?;
        self.end_root(root, *expires_s).await
    }

    /// End a sign-in and everything derived from it. Remembered for as long as the longest-lived
    /// session token made from it.
    pub(super) async fn end_root(&self, root: &str, expires_s: u64) -> Result<(), StoreError> {
        let longest_s = self.clock.now_s() + u64::from(TTL_S_MAX);
        let until_ms = (longest_s.max(expires_s) + EXPIRY_LEEWAY_S + 1) * 1000;
        self.end(root, until_ms).await
    }

    async fn end(&self, id: &str, until_ms: u64) -> Result<(), StoreError> {
        let now_ms = self.clock.now_ms();
        let (store, written) = (self.store.clone(), id.to_owned());
        let write = async move { store.revocation_add(&written, until_ms, now_ms).await };
        let id = id.to_owned();
        self.change(write, move |index, ()| index.end(&id, until_ms, now_ms))
            .await
    }

    /// A new one-time code for a user, in place of earlier ones.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn issue_code(&self, user: &str) -> Result<Secret, StoreError> {
        self.new_code(user, false).await
    }

    /// A new one-time code for a user. A code issued at start replaces the one from an earlier
    /// start, and leaves alone any that somebody asked for.
    pub(super) async fn new_code(&self, user: &str, at_start: bool) -> Result<Secret, StoreError> {
        let code = id::base62(id::CODE_LEN);
        let now_ms = self.clock.now_ms();
        let record = Code {
            hash: self.hasher.code(&code).to_text(),
            user: user.to_owned(),
            expires_ms: now_ms + 1000 * u64::from(CODE_TTL_S),
            at_start,
        };
        self.store.code_issue(record, now_ms).await?;
        Ok(Secret::new(code))
    }

    pub(super) async fn start_session(
        &self,
        user: &User,
        stay: Stay,
    ) -> Result<SignedIn, SignInError> {
        let (renewal, lasts_s) = match stay {
            Stay::Renewed => {
                let renewal = self.begin_renewal(user).await?;
                (Some(renewal), RENEWED_SESSION_TTL_S)
            }
            Stay::Short => (None, SESSION_TTL_S),
            Stay::Remembered => (None, self.remembered_s),
        };
        let signed_in = self.session_for(user, renewal, lasts_s).await?;
        Ok(SignedIn {
            is_remembered: stay == Stay::Remembered,
            ..signed_in
        })
    }

    /// How long the caller is signed in, as it asked for it then.
    pub(super) fn stay_of(caller: &Verified) -> Stay {
        let lasts_s = caller.claims.as_ref().map(|claims| claims.exp - claims.iat);
        match lasts_s {
            Some(lasts_s) if lasts_s > u64::from(SESSION_TTL_S) => Stay::Remembered,
            _ => Stay::Short,
        }
    }

    pub(super) async fn session_for(
        &self,
        user: &User,
        renewal: Option<Renewal>,
        expires_in_s: u32,
    ) -> Result<SignedIn, SignInError> {
        let now_ms = self.clock.now_ms();
        let claims = Claims {
            iss: Claims::issuer(),
            typ: TokenType::UserSession,
            sub: user.id.clone(),
            org: user.org.clone(),
            devices: None,
            kid: None,
            parent: renewal.as_ref().map(|r| r.id.clone()),
            rule: None,
            epoch: Some(user.epoch),
            iat: now_ms / 1000,
            exp: now_ms / 1000 + u64::from(expires_in_s),
            jti: id::ulid(&self.clock),
        };
        let token = self.signer.sign(&claims)?;
        match self.store.user_set_signed_in(&user.id, now_ms).await {
            Ok(_) => {}
            Err(UserError::Store(e)) => return Err(e.into()),
            Err(_) => return Err(SignInError::Rejected),
        }
        info!(user = user.id, "signed in");
        Ok(SignedIn {
            token,
            user: user.id.clone(),
            expires_at_ms: claims.exp * 1000,
            expires_in_s,
            renewal,
            is_remembered: false,
        })
    }
}
