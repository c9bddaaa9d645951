//! Why a secret cannot be written or read. No message has anything of a value.

use std::io;

use base::folder::SECRETS_KEY;
use store::StoreError;

/// Why the key file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// There is none, but something is sealed under it.
    #[error(
        "find {SECRETS_KEY} in the data folder: secrets or keys of webhooks are sealed under it; put it back from where it is kept apart from backups, or remove the secrets and rotate the keys"
    )]
    Missing,
    /// Others may read it.
    #[error(
        "use {SECRETS_KEY}: others may read it (mode {0:o}); look who had access, then make it private: chmod 600"
    )]
    Shared(u32),
    /// It belongs to somebody else.
    #[error(
        "use {SECRETS_KEY}: it belongs to the user with number {0}; give it to hostd's user (chown)"
    )]
    Foreign(u32),
    /// It is something else.
    #[error("use {SECRETS_KEY}: it is not a key of 64 hexadecimal digits; put the right file back")]
    Malformed,
    /// It cannot be read or made.
    #[error("read or make {SECRETS_KEY}")]
    File(#[source] io::Error),
}

/// Why a secret is not written, listed or removed.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// The organisation has none of the name.
    #[error("there is no such secret")]
    NotFound,
    /// A value is out of bounds.
    #[error("{field}: {message}")]
    Invalid {
        /// `name`, `value` or `refs`.
        field: &'static str,
        /// A fragment that follows it: `must be …`.
        message: String,
    },
    /// The organisation has as many as there may be.
    #[error("the organisation has {0} secrets, the most there can be; remove one first")]
    Full(usize),
    /// The key cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why something cannot be sealed.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// The key cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<SealError> for SecretError {
    fn from(error: SealError) -> Self {
        match error {
            SealError::Key(error) => Self::Key(error),
            SealError::Store(error) => Self::Store(error),
        }
    }
}

/// Why nothing can be signed for a webhook: a sentence that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum KeyLost {
    /// The key file cannot be used.
    #[error(
        "The webhook's key cannot be read: the server failed to {0}. Whoever runs the server must see to it, or an administrator rotate the webhook's key."
    )]
    Key(#[from] KeyError),
    /// It is sealed under another key than that of the key file.
    #[error(
        "The webhook's key cannot be read: it is sealed under the key {0}, and {SECRETS_KEY} of the server has {1}. Whoever runs the server must put the right file back, or an administrator rotate the webhook's key."
    )]
    OtherKey(String, String),
    /// The key is right and the record is not.
    #[error("The webhook's key cannot be read: its record is damaged. Rotate the key.")]
    Damaged,
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl SecretError {
    pub(crate) fn invalid(field: &'static str, message: impl Into<String>) -> Self {
        Self::Invalid {
            field,
            message: message.into(),
        }
    }
}

/// Why a run does not get a secret: its name, and a sentence that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum Unavailable {
    /// It was removed.
    #[error(
        "The organisation has no secret {0} any more. Set it again, or take it out of the pipeline, then retry the job."
    )]
    Gone(String),
    /// Its patterns do not have the job's branch or tag.
    #[error(
        "The secret {0} is no longer for the `ref` of this job. Ask an administrator which it is for."
    )]
    Refused(String),
    /// The key file cannot be used.
    #[error(
        "The secret {0} cannot be read: the server failed to {1}. Whoever runs the server must see to it; then retry the job."
    )]
    Key(String, #[source] KeyError),
    /// It is sealed under another key than that of the key file.
    #[error(
        "The secret {0} cannot be read: it is sealed under the key {1}, and {SECRETS_KEY} of the server has {2}. Whoever runs the server must put the right file back, or an administrator set the secret again; then retry the job."
    )]
    OtherKey(String, String, String),
    /// The key is right and the record is not.
    #[error(
        "The secret {0} cannot be read: its record is damaged. Set it again, then retry the job."
    )]
    Damaged(String),
    /// The storage failed.
    #[error(
        "The secret {0} cannot be read: the server's storage failed. Its log says why; then retry the job."
    )]
    Store(String, #[source] StoreError),
}
