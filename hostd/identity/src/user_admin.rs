//! Adding, changing and disabling users.

use super::Identity;
use super::error::UserChangeError;
use super::index::Index;
use super::password::PASSWORD_CHARS;
use base::id;
use store::StoreError;
use store::orgs::{self, Org};
use store::users::{self, Role, User};

/// Longest login, in bytes.
pub(super) const LOGIN_BYTES_MAX: usize = 64;

impl Identity {
    /// All users of all organisations, oldest first.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn users(&self) -> Result<Vec<User>, StoreError> {
        self.store.read(users::all).await
    }

    /// One user by login.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn user_by_login(&self, login: &str) -> Result<Option<User>, StoreError> {
        let login = login.to_owned();
        self.store.read(move |s| users::by_login(s, &login)).await
    }

    /// Add an organisation; returns none when the name is taken.
    ///
    /// # Errors
    /// The name is malformed, or the storage failed.
    pub async fn org_add(&self, name: &str) -> Result<Option<Org>, UserChangeError> {
        check_name("name", name)?;
        let org = Org {
            id: id::ulid(&self.clock),
            name: name.to_owned(),
            created_ms: self.clock.now_ms(),
            trusted_refs: Vec::new(),
        };
        let there = self.store.org_ensure(org.clone()).await?;
        Ok((there.id == org.id).then_some(there))
    }

    /// Add a user without a password to the organisation named `org`.
    ///
    /// # Errors
    /// The login is malformed or taken, there is no such organisation, or the storage failed.
    pub async fn user_add(
        &self,
        org: &str,
        login: &str,
        role: Role,
    ) -> Result<User, UserChangeError> {
        check_name("login", login)?;
        let name = org.to_owned();
        let found = self.store.read(move |s| orgs::by_name(s, &name)).await?;
        let org = found.ok_or_else(|| UserChangeError::UnknownOrg(org.to_owned()))?;
        self.user_add_to(&org.id, login, role).await
    }

    /// Add a user to the organisation with this id; the login has been checked.
    pub(super) async fn user_add_to(
        &self,
        org: &str,
        login: &str,
        role: Role,
    ) -> Result<User, UserChangeError> {
        let user = User {
            id: id::ulid(&self.clock),
            org: org.to_owned(),
            login: login.to_owned(),
            role,
            password_hash: None,
            disabled: false,
            epoch: 0,
            created_ms: self.clock.now_ms(),
            signed_in_ms: None,
        };
        let store = self.store.clone();
        let write = async move { store.user_add(user).await };
        Ok(self.change(write, Index::put_user).await?)
    }

    /// Set a user's password; their sessions end.
    ///
    /// # Errors
    /// The password is too short or too long, there is no such user, or the storage failed.
    pub async fn user_set_password(
        &self,
        id: &str,
        password: &str,
    ) -> Result<User, UserChangeError> {
        check_password(password)?;
        let hash = self.passwords.hash(password).await?;
        let (store, id) = (self.store.clone(), id.to_owned());
        let write = async move { store.user_set_password(&id, hash).await };
        let changed = self.change(write, Index::put_user).await;
        Ok(changed?)
    }

    /// Disable a user, with their keys and sessions, or enable them again. Keys then work again,
    /// sessions do not.
    ///
    /// # Errors
    /// It is the last owner, there is no such user, or the storage failed.
    pub async fn user_set_disabled(
        &self,
        id: &str,
        disabled: bool,
    ) -> Result<User, UserChangeError> {
        let (store, id) = (self.store.clone(), id.to_owned());
        let write = async move { store.user_set_disabled(&id, disabled).await };
        let changed = self.change(write, Index::put_user).await;
        Ok(changed?)
    }
}

/// The rule for logins and for names of organisations.
pub(super) fn check_name(field: &'static str, name: &str) -> Result<(), UserChangeError> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"._@+-".contains(&b);
    if (1..=LOGIN_BYTES_MAX).contains(&name.len()) && name.bytes().all(plain) {
        return Ok(());
    }
    Err(UserChangeError::Invalid {
        field,
        message: format!("must be 1 to {LOGIN_BYTES_MAX} of A-Z a-z 0-9 . _ @ + -"),
    })
}

fn check_password(password: &str) -> Result<(), UserChangeError> {
    if PASSWORD_CHARS.contains(&password.chars().count()) {
        return Ok(());
    }
    Err(UserChangeError::Invalid {
        field: "password",
        message: format!(
            "must have {} to {} characters",
            PASSWORD_CHARS.start(),
            PASSWORD_CHARS.end()
        ),
    })
}
