//! Table of one-time sign-in codes, under their keyed hashes. A code is deleted once it has been
//! tried.

use serde::{Deserialize, Serialize};

use super::records::Records;
use super::snapshot::Source;
use super::{Store, StoreError, Writing};

pub(super) const TABLES: [&str; 1] = ["codes"];

const CODES: Records<Code> = Records::new(TABLES[0]);

/// A code that has been issued.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Code {
    /// HMAC-SHA-256 of the code, base 64; also the record's key.
    pub hash: String,
    /// User id.
    pub user: String,
    pub expires_ms: u64,
    /// Whether the server issued it at a start, unasked.
    #[serde(default)]
    pub at_start: bool,
}

/// Whether there is a code with this hash, even an expired one.
///
/// # Errors
/// The storage failed.
pub fn has(from: &impl Source, hash: &str) -> Result<bool, StoreError> {
    Ok(CODES.get(from, hash)?.is_some())
}

impl Store {
    /// Store a code in place of the user's earlier ones, and delete anybody's expired ones. A code
    /// issued at a start leaves those that somebody asked for.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn code_issue(&self, code: Code, now_ms: u64) -> Result<(), StoreError> {
        self.write(move |w| {
            for old in CODES.all(w)? {
                let is_former = old.user == code.user && (old.at_start || !code.at_start);
                if is_former || old.expires_ms <= now_ms {
                    CODES.remove(w, &old.hash)?;
                }
            }
            CODES.put(w, &code.hash, &code)
        })
        .await
    }

    /// Remove and return the code with this hash, for the first caller only, and remove the user's
    /// other codes. None = unknown, spent or expired.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn code_take(&self, hash: &str, now_ms: u64) -> Result<Option<Code>, StoreError> {
        let hash = hash.to_owned();
        self.write(move |w| {
            let code = CODES.get(w, &hash)?;
            let Some(code) = code else {
                return Ok(None);
            };
            if code.expires_ms <= now_ms {
                CODES.remove(w, &hash)?;
                return Ok(None);
            }
            remove_of(w, &code.user)?;
            Ok(Some(code))
        })
        .await
    }
}

/// Delete the codes of a user.
pub(super) fn remove_of(w: &Writing<'_>, user: &str) -> Result<(), StoreError> {
    for code in CODES.all(w)? {
        if code.user == user {
            CODES.remove(w, &code.hash)?;
        }
    }
    Ok(())
}
