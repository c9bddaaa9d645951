//! `bench:host/tokens`: cloud-session tokens for the caller.

use super::bindings::bench::host::tokens::{Error, Host, Token};
use super::{Call, Context, internal};
use base::clock;
use identity::{TokenError, Verified};

impl Context {
    /// Ids of the devices with these names. A token is bound to ids, so that a rename moves no
    /// access.
    ///
    /// # Errors
    /// The first name that no device has which the caller may use.
    pub(super) fn device_ids(
        &self,
        caller: &Verified,
        names: Vec<String>,
    ) -> Result<Vec<String>, String> {
        let known = self.services.devices.list(caller.org());
        let id_of = |name: String| {
            let named = known.iter().find(|d| d.record.name == name);
            named
                .filter(|d| caller.may_use_id(&d.record.id))
                .map(|d| d.record.id.clone())
                .ok_or(name)
        };
        names.into_iter().map(id_of).collect()
    }
}

impl Host for Call {
    async fn mint(
        &mut self,
        devices: Option<Vec<String>>,
        ttl_seconds: u32,
    ) -> Result<Token, Error> {
        let caller = self.caller.as_ref();
        let caller = caller.ok_or_else(|| Error::Other("a token needs a caller".into()))?;
        let ids = devices
            .map(|names| self.device_ids(caller, names))
            .transpose()
            .map_err(Error::UnknownDevice)?;
        match self.services.auth.mint_token(caller, ids, ttl_seconds) {
            Ok(minted) => Ok(Token {
                token: minted.token.expose().to_owned(),
                expires_at: clock::text(minted.expires_at_ms),
                expires_in: minted.expires_in_s,
            }),
            Err(TokenError::Invalid { field, message }) => {
                Err(Error::Invalid((field.to_owned(), message)))
            }
            Err(error @ TokenError::Sign(_)) => Err(Error::Other(internal(self, "tokens", &error))),
        }
    }
}
