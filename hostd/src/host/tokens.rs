//! `hostd:host/tokens`: cloud-session tokens for the caller.

use wasmtime::component::HasData;

use super::bindings::hostd::host::tokens::{Error, Host, Token};
use super::door::device_ids;
use super::{CallLinker, Context, internal, wit};
use base::clock;
use identity::{Identity, TokenError};
use lab::devices::Devices;

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
    wit::tokens::add_to_linker::<_, View<'static>>(linker, |state| View {
        context: &state.data.context,
        auth: &state.data.services.auth,
        devices: &state.data.services.devices,
    })
}

impl Host for View<'_> {
    async fn mint(
        &mut self,
        devices: Option<Vec<String>>,
        ttl_seconds: u32,
    ) -> Result<Token, Error> {
        let caller = self.context.caller.as_ref();
        let caller = caller.ok_or_else(|| Error::Other("a token needs a caller".into()))?;
        let ids = devices
            .map(|names| device_ids(self.devices, caller, names))
            .transpose()
            .map_err(Error::UnknownDevice)?;
        match self.auth.mint_token(caller, ids, ttl_seconds) {
            Ok(minted) => Ok(Token {
                token: minted.token.expose().to_owned(),
                expires_at: clock::text(minted.expires_at_ms),
                expires_in: minted.expires_in_s,
            }),
            Err(TokenError::Invalid { field, message }) => {
                Err(Error::Invalid((field.to_owned(), message)))
            }
            Err(error @ TokenError::Sign(_)) => {
                Err(Error::Other(internal(self.context, "tokens", &error)))
            }
        }
    }
}
