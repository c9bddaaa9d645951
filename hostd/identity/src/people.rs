//! People of an organisation, as its admins list and change them over the API; and changing one's
//! own password.

use tracing::info;

use super::error::{SignInError, UserChangeError};
use super::index::Index;
use super::password::{PASSWORD_CHARS, PasswordError};
use super::user_admin::check_name;
use super::{CODE_TTL_S, Identity, Origin, Secret, SignedIn, Verified};
use crate::verified::Credential;
use store::StoreError;
use store::orgs;
use store::users::{self, Role, User, UserError};

/// Most users of one organisation.
const USERS_PER_ORG_MAX: usize = 1000;

/// A one-time sign-in code.
#[derive(Debug, Clone)]
pub struct OneTimeCode {
    pub code: Secret,
    pub expires_at_ms: u64,
    pub expires_in_s: u32,
}

/// Why a person could not be seen or changed.
#[derive(Debug, thiserror::Error)]
pub enum PeopleError {
    #[error("there is no such user")]
    NotFound,
    #[error("{0}")]
    Forbidden(String),
    #[error("the login is taken")]
    LoginTaken,
    #[error("it is the last enabled owner of the organisation")]
    LastOwner,
    #[error("{field}: {message}")]
    Invalid {
        field: &'static str,
        message: String,
    },
    #[error(transparent)]
    SignIn(#[from] SignInError),
    #[error("hash the password")]
    Password(#[from] PasswordError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<UserError> for PeopleError {
    fn from(error: UserError) -> Self {
        match error {
            UserError::NotFound => Self::NotFound,
            UserError::LoginTaken => Self::LoginTaken,
            UserError::LastOwner => Self::LastOwner,
            UserError::Store(e) => Self::Store(e),
        }
    }
}

impl From<UserChangeError> for PeopleError {
    fn from(error: UserChangeError) -> Self {
        match error {
            UserChangeError::Invalid { field, message } => Self::Invalid { field, message },
            UserChangeError::UnknownOrg(_) => Self::NotFound,
            UserChangeError::Password(e) => Self::Password(e),
            UserChangeError::User(e) => e.into(),
            UserChangeError::Store(e) => Self::Store(e),
        }
    }
}

impl Identity {
    /// All users of the caller's organisation, oldest first.
    ///
    /// # Errors
    /// The caller is no admin, or the storage failed.
    pub async fn people(&self, caller: &Verified) -> Result<Vec<User>, PeopleError> {
        if caller.credential() == Credential::CloudSession || !caller.is_admin() {
            return Err(forbidden("only admins and owners see the users"));
        }
        let mut users = self.store.read(users::all).await?;
        users.retain(|u| u.org == caller.org());
        Ok(users)
    }

    /// Add a user to the caller's organisation, with a code for the first sign-in.
    ///
    /// # Errors
    /// The caller may not, the login is malformed or taken, or the storage failed.
    pub async fn person_add(
        &self,
        caller: &Verified,
        login: &str,
        role: Role,
    ) -> Result<(User, OneTimeCode), PeopleError> {
        check_admin(caller)?;
        check_reach(caller, role)?;
        check_name("login", login)?;
        if self.people(caller).await?.len() >= USERS_PER_ORG_MAX {
            let message = format!("must not be one of more than {USERS_PER_ORG_MAX} users");
            return Err(PeopleError::Invalid {
                field: "login",
                message,
            });
        }
        let user = self.user_add_to(caller.org(), login, role).await?;
        info!(user = user.id, by = caller.user(), "user added");
        let code = self.code_for(&user.id).await?;
        Ok((user, code))
    }

    /// Change a user's role, disable or enable them; none leaves it as it is.
    ///
    /// # Errors
    /// The caller may not, there is no such user, it is the last owner, or the storage failed.
    pub async fn person_update(
        &self,
        caller: &Verified,
        id: &str,
        role: Option<Role>,
        disabled: Option<bool>,
    ) -> Result<User, PeopleError> {
        let mut user = self.subordinate(caller, id).await?;
        if let Some(role) = role {
            check_reach(caller, role)?;
            let (store, wanted) = (self.store.clone(), id.to_owned());
            let write = async move { store.user_set_role(&wanted, role).await };
            user = self.change(write, Index::put_user).await?;
            info!(
                user = id,
                by = caller.user(),
                role = role.as_str(),
                "role changed"
            );
        }
        if let Some(disabled) = disabled {
            user = self.user_set_disabled(&user.id, disabled).await?;
            info!(user = user.id, by = caller.user(), disabled, "user changed");
        }
        Ok(user)
    }

    /// Delete a user, with their keys and sessions.
    ///
    /// # Errors
    /// As [`Identity::person_update`].
    pub async fn person_remove(&self, caller: &Verified, id: &str) -> Result<(), PeopleError> {
        self.subordinate(caller, id).await?;
        let now_ms = self.clock.now_ms();
        let (store, user) = (self.store.clone(), id.to_owned());
        let write = async move { store.user_remove(&user, now_ms).await };
        let gone = id.to_owned();
        self.change(write, move |index, revoked| {
            index.users.remove(&gone);
            index.rules.retain(|_, rule| rule.user != gone);
            for key in revoked {
                index.put_key(key.clone());
            }
        })
        .await?;
        info!(user = id, by = caller.user(), "user removed");
        Ok(())
    }

    /// A new one-time sign-in code for a user, in place of earlier ones.
    ///
    /// # Errors
    /// As [`Identity::person_update`].
    pub async fn person_code(
        &self,
        caller: &Verified,
        id: &str,
    ) -> Result<OneTimeCode, PeopleError> {
        self.subordinate(caller, id).await?;
        info!(user = id, by = caller.user(), "sign-in code made");
        self.code_for(id).await
    }

    /// Set the caller's own password; all their sessions end and a new one begins. `old` is
    /// required if they have one.
    ///
    /// # Errors
    /// `old` is wrong, `new` is too short or too long, or the storage failed.
    pub async fn change_own_password(
        &self,
        caller: &Verified,
        old: Option<String>,
        new: &str,
    ) -> Result<SignedIn, PeopleError> {
        if caller.credential() != Credential::UserSession {
            return Err(forbidden("sign in to change your password"));
        }
        let id = caller.user().to_owned();
        let user = self.store.read(move |s| users::by_id(s, &id)).await?;
        let user = user.ok_or(PeopleError::NotFound)?;
        if user.password_hash.is_some() {
            let old = old.filter(|old| old.chars().count() <= *PASSWORD_CHARS.end());
            let old = old.ok_or_else(|| PeopleError::Invalid {
                field: "old",
                message: "must be your present password".to_owned(),
            })?;
            self.check_password(Origin::Session, &user.login, old)
                .await?;
        }
        let user = self.user_set_password(&user.id, new).await?;
        info!(user = user.id, "password changed");
        Ok(self.start_session(&user, Self::stay_of(caller)).await?)
    }

    /// The caller's user and the name of its organisation.
    ///
    /// # Errors
    /// The user has just been removed, or the storage failed.
    pub async fn whoami(&self, caller: &Verified) -> Result<(User, String), PeopleError> {
        let (user, org) = (caller.user().to_owned(), caller.org().to_owned());
        let found = self.store.read(move |s| {
            let org = orgs::by_id(s, &org)?.map_or_else(String::new, |o| o.name);
            Ok::<_, StoreError>(users::by_id(s, &user)?.map(|user| (user, org)))
        });
        found.await?.ok_or(PeopleError::NotFound)
    }

    /// A user that the caller may change.
    async fn subordinate(&self, caller: &Verified, id: &str) -> Result<User, PeopleError> {
        check_admin(caller)?;
        let wanted = id.to_owned();
        let user = self.store.read(move |s| users::by_id(s, &wanted)).await?;
        let user = user.filter(|u| u.org == caller.org());
        let user = user.ok_or(PeopleError::NotFound)?;
        check_reach(caller, user.role)?;
        Ok(user)
    }

    async fn code_for(&self, user: &str) -> Result<OneTimeCode, PeopleError> {
        let expires_at_ms = self.clock.now_ms() + 1000 * u64::from(CODE_TTL_S);
        Ok(OneTimeCode {
            code: self.issue_code(user).await?,
            expires_at_ms,
            expires_in_s: CODE_TTL_S,
        })
    }
}

/// A code or a role leads to a session, which can do more than any key, so keys may not grant
/// either.
fn check_admin(caller: &Verified) -> Result<(), PeopleError> {
    if caller.credential() != Credential::UserSession {
        return Err(forbidden("sign in to change users"));
    }
    if caller.role() < Role::Admin {
        return Err(forbidden("only admins and owners change users"));
    }
    Ok(())
}

/// Nobody may create or change a user above themselves.
fn check_reach(caller: &Verified, role: Role) -> Result<(), PeopleError> {
    if role > caller.role() {
        return Err(forbidden("only owners make or change owners"));
    }
    Ok(())
}

fn forbidden(message: &str) -> PeopleError {
    PeopleError::Forbidden(message.to_owned())
}
