//! `hostd:host/secrets`: secrets of the caller's organisation for its jobs.

use wasmtime::component::HasData;

use super::bindings::hostd::host::secrets::{Error, Host, Secret, State as WitState};
use super::{CallLinker, Context, internal, wit};
use base::clock;
use identity::Verified;
use vault::{NewSecret, SecretError, Shown, State, Vault, Writer};

/// What this interface gets of a call.
pub(super) struct View<'a> {
    context: &'a Context,
    vault: &'a Vault,
}

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

pub(super) fn link(linker: &mut CallLinker) -> wasmtime::Result<()> {
    wit::secrets::add_to_linker::<_, View<'static>>(linker, |state| View {
        context: &state.data.context,
        vault: &state.data.services.vault,
    })
}

impl Host for View<'_> {
    async fn list(&mut self) -> Result<Vec<Secret>, Error> {
        let found = self.vault.list(self.secret_caller()?.org()).await;
        let found = found.map_err(|e| self.secret_error(e.into()))?;
        Ok(found.into_iter().map(to_wit).collect())
    }

    async fn put(
        &mut self,
        name: String,
        value: String,
        refs: Option<Vec<String>>,
    ) -> Result<(Secret, bool), Error> {
        let by = self.writer()?;
        let new = NewSecret { name, value, refs };
        let written = self.vault.put(&by, new).await;
        written
            .map(|(shown, is_new)| (to_wit(shown), is_new))
            .map_err(|e| self.secret_error(e))
    }

    async fn remove(&mut self, name: String) -> Result<(), Error> {
        let by = self.writer()?;
        let removed = self.vault.remove(&by, &name).await;
        removed.map_err(|e| self.secret_error(e))
    }
}

impl View<'_> {
    fn secret_caller(&self) -> Result<&Verified, Error> {
        let caller = self.context.caller.as_ref();
        caller.ok_or_else(|| Error::Forbidden("secrets need a caller".to_owned()))
    }

    /// The caller, if it may write.
    fn writer(&self) -> Result<Writer, Error> {
        let caller = self.secret_caller()?;
        // A program of a job is nobody's administrator, whoever its user is.
        if !caller.is_admin() || caller.job().is_some() {
            let message = "only administrators of the organisation write secrets";
            return Err(Error::Forbidden(message.to_owned()));
        }
        Ok(Writer {
            org: caller.org().to_owned(),
            user: caller.user().to_owned(),
        })
    }

    fn secret_error(&self, error: SecretError) -> Error {
        match error {
            SecretError::NotFound => Error::NotFound,
            SecretError::Invalid { field, message } => Error::Invalid((field.to_owned(), message)),
            full @ SecretError::Full(_) => Error::Full(full.to_string()),
            SecretError::Key(error) => {
                // The log has the cause as well.
                internal(self.context, "secrets", &error);
                Error::Unavailable(format!("the server failed to {error}"))
            }
            SecretError::Store(error) => Error::Other(internal(self.context, "secrets", &error)),
        }
    }
}

fn to_wit(shown: Shown) -> Secret {
    Secret {
        name: shown.name,
        state: match shown.state {
            State::Ready => WitState::Ready,
            State::NoKey => WitState::NoKey,
            State::OtherKey => WitState::OtherKey,
            State::Damaged => WitState::Damaged,
        },
        refs: shown.refs,
        created_by: shown.created_by,
        created_at: clock::text(shown.created_ms),
        updated_by: shown.updated_by,
        updated_at: clock::text(shown.updated_ms),
    }
}
