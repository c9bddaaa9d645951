//! Why somebody was not let in, or may not do something.

use store::StoreError;
use store::keys::KeyRecordError;
use store::users::UserError;

/// Why a request carries no valid credential. All are status 401. The sentence goes to the caller:
/// it never repeats the credential, and does not distinguish a guessed key id from a wrong secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AuthError {
    #[error(
        "this endpoint needs a credential; send the header Authorization: ApiKey <key>, or Bearer <session token>"
    )]
    Missing,
    #[error(
        "the credential is not valid; check that it was copied whole and belongs to this server"
    )]
    Invalid,
    #[error(
        "the header Authorization has no credential; is the variable that should hold the key empty? Send it as \
         Authorization: ApiKey <key>"
    )]
    Empty,
    #[error(
        "the header Authorization has no scheme that this server knows; send a key as Authorization: ApiKey <key>, and a \
         session token as Authorization: Bearer <token>"
    )]
    Scheme,
    #[error("the credential has expired; get a new session token or create a new key")]
    Expired,
    #[error("the credential was revoked; sign in again or create a new key")]
    Revoked,
}

impl AuthError {
    /// Stable word for programs.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Missing => "missing_credential",
            Self::Invalid | Self::Empty | Self::Scheme => "invalid_credential",
            Self::Expired => "expired_credential",
            Self::Revoked => "revoked_credential",
        }
    }
}

/// Why a key could not be listed, made or changed.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error("there is no such key")]
    NotFound,
    #[error("{field}: {message}")]
    Invalid {
        field: &'static str,
        message: String,
    },
    #[error("{0}")]
    Forbidden(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<KeyRecordError> for KeyError {
    fn from(error: KeyRecordError) -> Self {
        match error {
            KeyRecordError::NotFound => Self::NotFound,
            KeyRecordError::Store(e) => Self::Store(e),
        }
    }
}

/// Why no session token was made.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    #[error("{field}: {message}")]
    Invalid {
        field: &'static str,
        message: String,
    },
    #[error("sign the session token")]
    Sign(#[from] jsonwebtoken::errors::Error),
}

/// Why nobody was signed in.
#[derive(Debug, thiserror::Error)]
pub enum SignInError {
    /// Unknown login, wrong password, disabled user, spent or expired code: it does not say which.
    #[error("the login and password, or the code, were not accepted")]
    Rejected,
    #[error("too many attempts; wait {wait_s} s")]
    SlowDown { wait_s: u32 },
    #[error("check the password")]
    Password(#[from] super::password::PasswordError),
    #[error("sign the session token")]
    Sign(#[from] jsonwebtoken::errors::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a user could not be made or changed.
#[derive(Debug, thiserror::Error)]
pub enum UserChangeError {
    #[error("{field}: {message}")]
    Invalid {
        field: &'static str,
        message: String,
    },
    #[error("find the organisation {0}")]
    UnknownOrg(String),
    #[error("hash the password")]
    Password(#[from] super::password::PasswordError),
    #[error(transparent)]
    User(#[from] UserError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why identity could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    #[error("read the server's signing key {kid}")]
    SigningKey {
        kid: String,
        #[source]
        source: jsonwebtoken::errors::Error,
    },
    #[error("find the server's {0} secret")]
    NoSecret(&'static str),
    #[error("make the first user")]
    User(#[from] UserError),
    #[error(transparent)]
    Store(#[from] StoreError),
}
