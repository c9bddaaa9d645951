//! `bench:host/sessions`: sign-in of people.

use super::bindings::bench::host::sessions::{Error, Host, Session};
use super::{Call, Context, internal};
use crate::clock;
use crate::identity::{SignInError, SignedIn};

impl Host for Call {
    async fn password(&mut self, login: String, password: String) -> Result<Session, Error> {
        let result = self.services.auth.sign_in_password(&login, password).await;
        result.map(to_wit).map_err(|e| self.sign_in_error(e))
    }

    async fn code(&mut self, code: String) -> Result<Session, Error> {
        let result = self.services.auth.sign_in_code(&code).await;
        result.map(to_wit).map_err(|e| self.sign_in_error(e))
    }
}

impl Context {
    fn sign_in_error(&self, error: SignInError) -> Error {
        match error {
            SignInError::Rejected => Error::Rejected,
            SignInError::SlowDown { wait_s } => Error::SlowDown(wait_s),
            other => Error::Other(internal(self, "sessions", &other)),
        }
    }
}

fn to_wit(signed_in: SignedIn) -> Session {
    Session {
        token: signed_in.token.expose().to_owned(),
        user: signed_in.user,
        expires_at: clock::text(signed_in.expires_at_ms),
        expires_in: signed_in.expires_in_s,
    }
}
