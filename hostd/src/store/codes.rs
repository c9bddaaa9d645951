//! Table of one-time sign-in codes, under their keyed hashes. A code is gone once it was tried.

use serde::{Deserialize, Serialize};

use super::records::Records;
use super::{Store, StoreError, Writing};

pub(super) const TABLES: [&str; 1] = ["codes"];

const CODES: Records<Code> = Records::new(TABLES[0]);

/// A code that has been handed out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Code {
    /// HMAC-SHA-256 of the code, base 64; also the record's key.
    pub hash: String,
    /// User id.
    pub user: String,
    pub expires_ms: u64,
}

impl Store {
    /// Store a code in place of the user's former ones; expired ones of anybody go too.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn code_issue(&self, code: Code, now_ms: u64) -> Result<(), StoreError> {
        self.write(move |w| {
            for old in CODES.all(w)? {
                if old.user == code.user || old.expires_ms <= now_ms {
                    CODES.remove(w, &old.hash)?;
                }
            }
            CODES.put(w, &code.hash, &code)
        })
        .await
    }

    /// Take the code with this hash out, whoever asks first. None = unknown, spent or expired.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn code_take(&self, hash: &str, now_ms: u64) -> Result<Option<Code>, StoreError> {
        let hash = hash.to_owned();
        self.write(move |w| {
            let code = CODES.get(w, &hash)?;
            if code.is_some() {
                CODES.remove(w, &hash)?;
            }
            Ok(code.filter(|code| now_ms < code.expires_ms))
        })
        .await
    }
}

/// Forget the codes of a user.
pub(super) fn remove_of(w: &Writing<'_>, user: &str) -> Result<(), StoreError> {
    for code in CODES.all(w)? {
        if code.user == user {
            CODES.remove(w, &code.hash)?;
        }
    }
    Ok(())
}
