//! Table of users.

use serde::{Deserialize, Serialize};

use super::keys::{self, Key};
use super::records::Records;
use super::snapshot::Source;
use super::{Store, StoreError, Writing, codes, refreshes, trust};

pub(super) const TABLES: [&str; 2] = ["users", "users_by_login"];

const USERS: Records<User> = Records::new(TABLES[0]);
const BY_LOGIN: Records<String> = Records::new(TABLES[1]);

/// What a user may do within its organisation, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    Member,
    Admin,
    Owner,
}

impl Role {
    /// The word for it: `member`, `admin` or `owner`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Member => "member",
            Self::Admin => "admin",
            Self::Owner => "owner",
        }
    }
}

/// A person who signs in, in one organisation.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    /// ULID.
    pub id: String,
    pub org: String,
    /// Name to sign in with, unique on this server.
    pub login: String,
    pub role: Role,
    /// Argon2id in PHC form; none = signs in by one-time code only.
    pub password_hash: Option<String>,
    pub disabled: bool,
    /// Incremented to end every session of the user; a session carries the value from when it was
    /// made.
    pub epoch: u32,
    pub created_ms: u64,
    /// None = never.
    pub signed_in_ms: Option<u64>,
}

impl std::fmt::Debug for User {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("User")
            .field("id", &self.id)
            .field("org", &self.org)
            .field("login", &self.login)
            .field("role", &self.role)
            .field("has_password", &self.password_hash.is_some())
            .field("disabled", &self.disabled)
            .finish_non_exhaustive()
    }
}

/// Why a user could not be stored.
#[derive(Debug, thiserror::Error)]
pub enum UserError {
    #[error("find the user")]
    NotFound,
    #[error("use the login: another user has it")]
    LoginTaken,
    #[error("take away the last enabled owner of an organisation")]
    LastOwner,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// One user by id.
///
/// # Errors
/// The storage failed.
pub fn by_id(from: &impl Source, id: &str) -> Result<Option<User>, StoreError> {
    USERS.get(from, id)
}

/// One user by login.
///
/// # Errors
/// The storage failed.
pub fn by_login(from: &impl Source, login: &str) -> Result<Option<User>, StoreError> {
    match BY_LOGIN.get(from, login)? {
        Some(id) => USERS.get(from, &id),
        None => Ok(None),
    }
}

/// All users of all organisations, oldest first.
///
/// # Errors
/// The storage failed.
pub fn all(from: &impl Source) -> Result<Vec<User>, StoreError> {
    USERS.all(from)
}

impl Store {
    /// Add a user.
    ///
    /// # Errors
    /// The login is taken, or the storage failed.
    pub async fn user_add(&self, user: User) -> Result<User, UserError> {
        self.write(move |w| {
            if BY_LOGIN.get(w, &user.login)?.is_some() {
                return Err(UserError::LoginTaken);
            }
            BY_LOGIN.put(w, &user.login, &user.id)?;
            USERS.put(w, &user.id, &user)?;
            Ok(user.clone())
        })
        .await
    }

    /// Set the password hash and end the user's sessions.
    ///
    /// # Errors
    /// There is no such user, or the storage failed.
    pub async fn user_set_password(&self, id: &str, hash: String) -> Result<User, UserError> {
        self.user_change(id, move |user| {
            user.password_hash = Some(hash.clone());
            user.epoch = user.epoch.wrapping_add(1);
        })
        .await
    }

    /// Record when the user last signed in.
    ///
    /// # Errors
    /// There is no such user, or the storage failed.
    pub async fn user_set_signed_in(&self, id: &str, at_ms: u64) -> Result<User, UserError> {
        self.user_change(id, move |user| user.signed_in_ms = Some(at_ms))
            .await
    }

    /// Disable a user, or enable them again. Disabling ends their sessions.
    ///
    /// # Errors
    /// There is no such user, it is the last owner left, or the storage failed.
    pub async fn user_set_disabled(&self, id: &str, disabled: bool) -> Result<User, UserError> {
        let id = id.to_owned();
        self.write(move |w| {
            let mut user = USERS.get(w, &id)?.ok_or(UserError::NotFound)?;
            if disabled && user.role == Role::Owner && !has_other_owner(w, &user)? {
                return Err(UserError::LastOwner);
            }
            if disabled && !user.disabled {
                user.epoch = user.epoch.wrapping_add(1);
            }
            user.disabled = disabled;
            USERS.put(w, &id, &user)?;
            Ok(user)
        })
        .await
    }

    /// Give the user another role.
    ///
    /// # Errors
    /// There is no such user, it is the last owner left, or the storage failed.
    pub async fn user_set_role(&self, id: &str, role: Role) -> Result<User, UserError> {
        let id = id.to_owned();
        self.write(move |w| {
            let mut user = USERS.get(w, &id)?.ok_or(UserError::NotFound)?;
            let steps_down = user.role == Role::Owner && role != Role::Owner;
            if steps_down && !user.disabled && !has_other_owner(w, &user)? {
                return Err(UserError::LastOwner);
            }
            user.role = role;
            USERS.put(w, &id, &user)?;
            Ok(user)
        })
        .await
    }

    /// Delete a user: their keys are revoked at `now_ms`, their codes and sign-ins are deleted.
    /// Returns the ids of those keys.
    ///
    /// # Errors
    /// There is no such user, it is the last owner left, or the storage failed.
    pub async fn user_remove(&self, id: &str, now_ms: u64) -> Result<Vec<Key>, UserError> {
        let id = id.to_owned();
        self.write(move |w| {
            let user = USERS.get(w, &id)?.ok_or(UserError::NotFound)?;
            if user.role == Role::Owner && !user.disabled && !has_other_owner(w, &user)? {
                return Err(UserError::LastOwner);
            }
            codes::remove_of(w, &id)?;
            refreshes::remove_of(w, &id)?;
            trust::remove_of(w, &id)?;
            let revoked = keys::revoke_of(w, &id, now_ms)?;
            BY_LOGIN.remove(w, &user.login)?;
            USERS.remove(w, &id)?;
            Ok(revoked)
        })
        .await
    }

    async fn user_change(
        &self,
        id: &str,
        f: impl Fn(&mut User) + Send + 'static,
    ) -> Result<User, UserError> {
        let id = id.to_owned();
        self.write(move |w| {
            let mut user = USERS.get(w, &id)?.ok_or(UserError::NotFound)?;
            f(&mut user);
            USERS.put(w, &id, &user)?;
            Ok(user)
        })
        .await
    }
}

fn has_other_owner(w: &Writing<'_>, than: &User) -> Result<bool, StoreError> {
    let is_other =
        |u: &User| u.org == than.org && u.id != than.id && u.role == Role::Owner && !u.disabled;
    Ok(USERS.all(w)?.iter().any(is_other))
}
