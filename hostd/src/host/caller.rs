//! A verified caller as handlers see it.

use identity::{Credential, Verified};
use store::users::Role;

/// The record that goes with a request.
#[must_use]
pub fn caller(verified: &Verified) -> runtime::Caller {
    runtime::Caller {
        org: verified.org().to_owned(),
        user: verified.user().to_owned(),
        role: match verified.role() {
            Role::Member => runtime::Role::Member,
            Role::Admin => runtime::Role::Admin,
            Role::Owner => runtime::Role::Owner,
        },
        credential: credential(verified.credential()),
        kid: verified.kid().map(str::to_owned),
        scopes: scopes(verified),
        devices: verified.devices().map(<[String]>::to_vec),
    }
}

/// A kind of credential in the words of the contract.
pub(super) fn credential(kind: Credential) -> runtime::Credential {
    match kind {
        Credential::ApiKey => runtime::Credential::ApiKey,
        Credential::UserSession => runtime::Credential::UserSession,
        Credential::CloudSession => runtime::Credential::CloudSession,
    }
}

/// The names of the scopes that a credential carries.
pub(super) fn scopes(verified: &Verified) -> Vec<String> {
    let scopes = verified.scopes().iter();
    scopes.map(|scope| scope.as_str().to_owned()).collect()
}
