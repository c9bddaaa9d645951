//! `hostd:host/users`: users of the caller's organisation.

use runtime::Role;
use wasmtime::component::HasData;

use super::bindings::hostd::host::users::{Code, Error, Host, User as WitUser};
use super::sessions::role;
use super::{CallLinker, Context, internal, wit};
use base::clock;
use identity::{Identity, OneTimeCode, PeopleError, Verified};
use store::users::{self, User};

/// What this interface gets of a call.
pub(super) struct View<'a> {
    context: &'a Context,
    auth: &'a Identity,
}

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

pub(super) fn link(linker: &mut CallLinker) -> wasmtime::Result<()> {
    wit::users::add_to_linker::<_, View<'static>>(linker, |state| View {
        context: &state.data.context,
        auth: &state.data.services.auth,
    })
}

impl Host for View<'_> {
    async fn list(&mut self) -> Result<Vec<WitUser>, Error> {
        let listed = self.auth.people(self.user_caller()?).await;
        listed
            .map(|list| list.into_iter().map(to_wit).collect())
            .map_err(|e| self.user_error(e))
    }

    async fn create(&mut self, login: String, role: Role) -> Result<(WitUser, Code), Error> {
        let caller = self.user_caller()?;
        let auth = self.auth;
        let added = auth.person_add(caller, &login, stored(role)).await;
        added
            .map(|(user, code)| (to_wit(user), code_to_wit(&code)))
            .map_err(|e| self.user_error(e))
    }

    async fn update(
        &mut self,
        id: String,
        role: Option<Role>,
        disabled: Option<bool>,
    ) -> Result<WitUser, Error> {
        let caller = self.user_caller()?;
        let auth = self.auth;
        let changed = auth.person_update(caller, &id, role.map(stored), disabled);
        changed.await.map(to_wit).map_err(|e| self.user_error(e))
    }

    async fn remove(&mut self, id: String) -> Result<(), Error> {
        let caller = self.user_caller()?;
        let removed = self.auth.person_remove(caller, &id).await;
        removed.map_err(|e| self.user_error(e))
    }

    async fn issue_code(&mut self, id: String) -> Result<Code, Error> {
        let caller = self.user_caller()?;
        let issued = self.auth.person_code(caller, &id).await;
        issued
            .map(|code| code_to_wit(&code))
            .map_err(|e| self.user_error(e))
    }
}

impl View<'_> {
    fn user_caller(&self) -> Result<&Verified, Error> {
        let caller = self.context.caller.as_ref();
        caller.ok_or_else(|| Error::Forbidden("users need a caller".to_owned()))
    }

    fn user_error(&self, error: PeopleError) -> Error {
        match error {
            PeopleError::NotFound => Error::NotFound,
            PeopleError::LoginTaken => Error::LoginTaken,
            PeopleError::LastOwner => Error::LastOwner,
            PeopleError::Forbidden(text) => Error::Forbidden(text),
            PeopleError::Invalid { field, message } => Error::Invalid((field.to_owned(), message)),
            other => Error::Other(internal(self.context, "users", &other)),
        }
    }
}

fn stored(role: Role) -> users::Role {
    match role {
        Role::Member => users::Role::Member,
        Role::Admin => users::Role::Admin,
        Role::Owner => users::Role::Owner,
    }
}

fn to_wit(user: User) -> WitUser {
    WitUser {
        id: user.id,
        login: user.login,
        role: role(user.role),
        disabled: user.disabled,
        has_password: user.password_hash.is_some(),
        created_at: clock::text(user.created_ms),
        signed_in_at: user.signed_in_ms.map(clock::text),
    }
}

fn code_to_wit(code: &OneTimeCode) -> Code {
    Code {
        code: code.code.expose().to_owned(),
        expires_at: clock::text(code.expires_at_ms),
        expires_in: code.expires_in_s,
    }
}
