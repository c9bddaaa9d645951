//! Table of session tokens that were ended early, by token id. An entry is needed only until the
//! token would have expired anyway.

use std::ops::ControlFlow;

use super::records::Records;
use super::snapshot::{Range, Source};
use super::{Store, StoreError};

pub(super) const TABLES: [&str; 1] = ["revocations"];

/// Token id to the instant its token expires.
const REVOCATIONS: Records<u64> = Records::new(TABLES[0]);

/// All token ids with the instants (ms) their tokens expire.
///
/// # Errors
/// The storage failed.
pub fn all(from: &impl Source) -> Result<Vec<(String, u64)>, StoreError> {
    let mut found = Vec::new();
    REVOCATIONS.each(from, Range::ALL, |jti, expires_ms| {
        found.push((jti.to_owned(), expires_ms));
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

impl Store {
    /// End the session with token id `jti`; drops entries whose tokens have expired at `now_ms`.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn revocation_add(
        &self,
        jti: &str,
        expires_ms: u64,
        now_ms: u64,
    ) -> Result<(), StoreError> {
        let jti = jti.to_owned();
        self.write(move |w| {
            for (old, expires) in all(w)? {
                if expires < now_ms {
                    REVOCATIONS.remove(w, &old)?;
                }
            }
            REVOCATIONS.put(w, &jti, &expires_ms)
        })
        .await
    }
}
