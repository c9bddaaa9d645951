//! `hostd:host/keys`: API keys that the caller may see and change.

use wasmtime::component::HasData;

use super::bindings::hostd::host::keys::{Created, Error, Host, Key as WitKey};
use super::{CallLinker, Context, internal, wit};
use base::clock;
use identity::{Identity, KeyError, Verified};
use store::keys::Key;

/// What this interface gets of a call.
pub(super) struct View<'a> {
    context: &'a Context,
    auth: &'a Identity,
}

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

pub(super) fn link(linker: &mut CallLinker) -> wasmtime::Result<()> {
    wit::keys::add_to_linker::<_, View<'static>>(linker, |state| View {
        context: &state.data.context,
        auth: &state.data.services.auth,
    })
}

impl Host for View<'_> {
    async fn list(&mut self) -> Result<Vec<WitKey>, Error> {
        let keys = self.auth.keys_list(self.key_caller()?).await;
        keys.map(|list| list.iter().map(to_wit).collect())
            .map_err(|e| self.key_error(e))
    }

    async fn create(
        &mut self,
        name: String,
        scopes: Vec<String>,
        ttl_seconds: Option<u64>,
    ) -> Result<Created, Error> {
        let caller = self.key_caller()?;
        let auth = self.auth;
        let made = auth.key_create(caller, &name, &scopes, ttl_seconds).await;
        made.map(|made| Created {
            key: to_wit(&made.key),
            secret: made.secret.expose().to_owned(),
        })
        .map_err(|e| self.key_error(e))
    }

    async fn update(
        &mut self,
        kid: String,
        name: Option<String>,
        scopes: Option<Vec<String>>,
    ) -> Result<WitKey, Error> {
        let caller = self.key_caller()?;
        let auth = self.auth;
        let changed = auth.key_update(caller, &kid, name, scopes).await;
        changed.map(|k| to_wit(&k)).map_err(|e| self.key_error(e))
    }

    async fn revoke(&mut self, kid: String) -> Result<(), Error> {
        let caller = self.key_caller()?;
        let revoked = self.auth.key_revoke(caller, &kid).await;
        revoked.map_err(|e| self.key_error(e))
    }
}

impl View<'_> {
    fn key_caller(&self) -> Result<&Verified, Error> {
        let caller = self.context.caller.as_ref();
        caller.ok_or_else(|| Error::Forbidden("keys need a caller".into()))
    }

    fn key_error(&self, error: KeyError) -> Error {
        match error {
            KeyError::NotFound => Error::NotFound,
            KeyError::Invalid { field, message } => Error::Invalid((field.to_owned(), message)),
            KeyError::Forbidden(text) => Error::Forbidden(text),
            KeyError::Store(e) => Error::Other(internal(self.context, "keys", &e)),
        }
    }
}

fn to_wit(key: &Key) -> WitKey {
    WitKey {
        kid: key.kid.clone(),
        name: key.name.clone(),
        owner: key.owner.clone(),
        scopes: key.scopes.clone(),
        created_at: clock::text(key.created_at_ms),
        last_used_at: key.last_used_at_ms.map(clock::text),
        expires_at: key.expires_at_ms.map(clock::text),
    }
}
