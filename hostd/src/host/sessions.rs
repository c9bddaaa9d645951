//! `hostd:host/sessions`: signing people in, and what a credential stands for.

use runtime::Role;
use wasmtime::component::HasData;

use super::bindings::hostd::host::sessions::{
    Error, Host, Identity as WitIdentity, Renewal, Session, Stay,
};
use super::door::device;
use super::{CallLinker, Context, internal, wit};
use base::clock;
use identity::{Identity, Origin, PeopleError, SignInError, SignedIn, Verified};
use lab::devices::Devices;
use store::users;

/// What this interface gets of a call.
pub(super) struct View<'a> {
    context: &'a Context,
    auth: &'a Identity,
    devices: &'a Devices,
}

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

pub(super) fn link(linker: &mut CallLinker) -> wasmtime::Result<()> {
    wit::sessions::add_to_linker::<_, View<'static>>(linker, |state| View {
        context: &state.data.context,
        auth: &state.data.services.auth,
        devices: &state.data.services.devices,
    })
}

impl Host for View<'_> {
    async fn password(
        &mut self,
        login: String,
        password: String,
        stay: Stay,
    ) -> Result<Session, Error> {
        let auth = self.auth;
        let result = auth
            .sign_in_password(self.origin(), &login, password, of_wit(stay))
            .await;
        result.map(to_wit).map_err(|e| self.sign_in_error(e))
    }

    async fn code(&mut self, code: String, stay: Stay) -> Result<Session, Error> {
        let auth = self.auth;
        let result = auth.sign_in_code(self.origin(), &code, of_wit(stay)).await;
        result.map(to_wit).map_err(|e| self.sign_in_error(e))
    }

    async fn renew(&mut self, token: String) -> Result<Session, Error> {
        let result = self.auth.renew(&token).await;
        result.map(to_wit).map_err(|e| self.sign_in_error(e))
    }

    async fn current(&mut self) -> Result<WitIdentity, Error> {
        let caller = self.session_caller()?;
        let found = self.auth.whoami(caller).await;
        let (user, org_name) = found.map_err(|e| self.person_error(e))?;
        let devices = caller.devices().map(|ids| {
            let name =
                |id: &String| device(self.devices, caller, id).map(|d| (id.clone(), d.record.name));
            ids.iter().filter_map(name).collect()
        });
        Ok(WitIdentity {
            credential: super::caller::credential(caller.credential()),
            user: user.id,
            login: user.login,
            role: role(caller.role()),
            org: caller.org().to_owned(),
            org_name,
            kid: caller.kid().map(str::to_owned),
            scopes: super::caller::scopes(caller),
            devices,
            expires_at: caller.expires_s().map(|s| clock::text(s * 1000)),
        })
    }

    async fn end(&mut self) -> Result<(), Error> {
        let ended = self.auth.sign_out(self.session_caller()?).await;
        ended.map_err(|e| Error::Other(internal(self.context, "sessions", &e)))
    }

    async fn change_password(
        &mut self,
        old: Option<String>,
        new: String,
    ) -> Result<Session, Error> {
        let caller = self.session_caller()?;
        let auth = self.auth;
        let changed = auth.change_own_password(caller, old, &new).await;
        changed.map(to_wit).map_err(|e| self.person_error(e))
    }
}

impl View<'_> {
    fn session_caller(&self) -> Result<&Verified, Error> {
        let caller = self.context.caller.as_ref();
        caller.ok_or_else(|| Error::Forbidden("there is no session".to_owned()))
    }

    fn origin(&self) -> Origin {
        Origin::Address(self.context.client)
    }

    fn sign_in_error(&self, error: SignInError) -> Error {
        match error {
            SignInError::Rejected => Error::Rejected,
            SignInError::SlowDown { wait_s } => Error::SlowDown(wait_s),
            other => Error::Other(internal(self.context, "sessions", &other)),
        }
    }

    fn person_error(&self, error: PeopleError) -> Error {
        match error {
            PeopleError::SignIn(e) => self.sign_in_error(e),
            PeopleError::Invalid { field, message } => Error::Invalid((field.to_owned(), message)),
            PeopleError::Forbidden(text) => Error::Forbidden(text),
            other => Error::Other(internal(self.context, "sessions", &other)),
        }
    }
}

/// A stored role as the contract's type.
pub(super) fn role(role: users::Role) -> Role {
    match role {
        users::Role::Member => Role::Member,
        users::Role::Admin => Role::Admin,
        users::Role::Owner => Role::Owner,
    }
}

fn of_wit(stay: Stay) -> identity::Stay {
    match stay {
        Stay::Short => identity::Stay::Short,
        Stay::Renewed => identity::Stay::Renewed,
        Stay::Remembered => identity::Stay::Remembered,
    }
}

fn to_wit(signed_in: SignedIn) -> Session {
    Session {
        is_remembered: signed_in.is_remembered,
        token: signed_in.token.expose().to_owned(),
        user: signed_in.user,
        expires_at: clock::text(signed_in.expires_at_ms),
        expires_in: signed_in.expires_in_s,
        renewal: signed_in.renewal.map(|renewal| Renewal {
            token: renewal.token.expose().to_owned(),
            id: renewal.id,
            expires_at: clock::text(renewal.expires_at_ms),
            expires_in: renewal.expires_in_s,
        }),
    }
}
