//! Secrets that organisations keep for their jobs: named, encrypted at rest, and never shown again. The keys that
//! messages to webhooks are signed with are sealed in the same way.
//!
//! ```text
//! value ─ seal (key, organisation, name) ─> store        key: secrets.key, beside the store and in no backup
//! store ─ open (key, organisation, name) ─> environment of the step that names it
//! ```
//!
//! Whoever has the store alone, as from a backup, has no value; whoever moves a record to another organisation or name
//! has none either.

mod error;
mod key;
mod limits;
mod seal;
mod shown;
#[cfg(test)]
mod tests;
mod vault;
mod webhook_keys;

pub use error::{KeyError, KeyLost, SealError, SecretError, Unavailable};
pub use limits::{COUNT_MAX, VALUE_BYTES};
pub use shown::{Shown, State};
pub use vault::{NewSecret, Refusal, Vault, Writer};
