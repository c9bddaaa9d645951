//! Who may analyse boards, and what shows that somebody was given an address.

use guest::emi::Signed;
use guest::{Credential, members, spelled};

/// Boards belong to organisations and to no device, so a session that may be restricted to devices is not enough.
pub(crate) const CREDENTIALS: &[Credential] = &[Credential::ApiKey, Credential::UserSession];

/// All that there is about boards.
pub(crate) const SCOPE: Option<&str> = Some("emi:analyze");

/// Longest signature, in characters.
const SIGNATURE_CHARS_MAX: usize = 128;

/// Largest time, in seconds since 1970: in the year 9999.
const EXPIRES_MAX: u64 = 253_402_300_799;

members! {
    /// The query of an address that was signed.
    #[derive(Debug)]
    pub(crate) struct Shown {
        /// As the address has it: until when it is good, in seconds since 1970.
        expires: u64 = required(guest::integer(0..=EXPIRES_MAX)),
        /// As the address has it.
        signature: String = required(spelled(1..=SIGNATURE_CHARS_MAX, "A-Za-z0-9_-")),
    }
}

impl From<Shown> for Signed {
    fn from(shown: Shown) -> Self {
        Self {
            expires: shown.expires,
            signature: shown.signature,
        }
    }
}
