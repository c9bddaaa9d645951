//! `bench:host/tokens`: cloud-session tokens for the caller.

use super::bindings::bench::host::tokens::{Error, Host, Token};
use super::{Call, internal};
use crate::clock;
use crate::identity::TokenError;

impl Host for Call {
    async fn mint(
        &mut self,
        devices: Option<Vec<String>>,
        ttl_seconds: u32,
    ) -> Result<Token, Error> {
        let caller = self.caller.as_ref();
        let caller = caller.ok_or_else(|| Error::Other("a token needs a caller".into()))?;
        let known = self.services.bench.list(caller.org());
        let unknown = devices.iter().flatten().find(|name| {
            let exists = known.iter().any(|d| d.record.name == **name);
            !(exists && caller.may_use(name))
        });
        if let Some(name) = unknown {
            return Err(Error::UnknownDevice(name.clone()));
        }
        match self.services.auth.mint_token(caller, devices, ttl_seconds) {
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
