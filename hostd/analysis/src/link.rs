//! Signatures that make an address good for one file, for one purpose and for some time, so that it needs no credential.

use base::clock::Clock;
use base::id;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use store::secrets::{Purpose, ServerSecret};
use store::{Store, StoreError};

use crate::error::Error;

/// How long an address is good for, in seconds.
pub(crate) const GOOD_S: u64 = 15 * 60;

/// What an address is for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum For<'f> {
    /// Bytes may come to this key.
    Put { key: &'f str },
    /// An artifact may be fetched.
    Get {
        org: &'f str,
        run: &'f str,
        name: &'f str,
    },
}

/// What goes into an address. Secret: whoever has it needs nothing else.
#[derive(Clone, PartialEq, Eq)]
pub struct Signed {
    /// Until when it is good, in seconds since 1970.
    pub expires_s: u64,
    /// 43 characters of base 64 for URLs.
    pub signature: String,
}

impl std::fmt::Debug for Signed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Signed")
            .field("expires_s", &self.expires_s)
            .finish_non_exhaustive()
    }
}

/// Signs and checks. The key is in the store, so that what was signed stays good when the server starts anew.
pub(crate) struct Signer {
    key: [u8; 32],
    clock: Clock,
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Signer").finish_non_exhaustive()
    }
}

impl Signer {
    /// With the key of the store, which is made if there is none.
    pub(crate) async fn open(store: &Store, clock: Clock) -> Result<Self, StoreError> {
        let mut fresh = ServerSecret {
            id: id::base62(id::KEY_ID_LEN),
            purpose: Purpose::Link,
            bytes: [0; 32],
            created_ms: clock.now_ms(),
            retired_ms: None,
        };
        id::fill_random(&mut fresh.bytes);
        let own = fresh.bytes;
        let all = store.secret_ensure(vec![fresh]).await?;
        let kept = all.iter().find(|secret| secret.purpose == Purpose::Link);
        Ok(Self {
            key: kept.map_or(own, |secret| secret.bytes),
            clock,
        })
    }

    pub(crate) fn sign(&self, what: For<'_>) -> Signed {
        let expires_s = self.clock.now_s() + GOOD_S;
        let code = self.code(what, expires_s).finalize().into_bytes();
        Signed {
            expires_s,
            signature: URL_SAFE_NO_PAD.encode(code),
        }
    }

    /// Takes as long for every wrong signature.
    pub(crate) fn check(&self, what: For<'_>, signed: &Signed) -> Result<(), Error> {
        self.check_late(what, signed, 0)
    }

    /// The same for what began while the address was good, at most so many seconds ago.
    pub(crate) fn check_late(
        &self,
        what: For<'_>,
        signed: &Signed,
        late_s: u64,
    ) -> Result<(), Error> {
        let code = URL_SAFE_NO_PAD.decode(&signed.signature);
        let code = code.map_err(|_| Error::Signature)?;
        let is_ours = self.code(what, signed.expires_s).verify_slice(&code);
        is_ours.map_err(|_| Error::Signature)?;
        if signed.expires_s.saturating_add(late_s) < self.clock.now_s() {
            return Err(Error::Signature);
        }
        Ok(())
    }

    fn code(&self, what: For<'_>, expires_s: u64) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).expect("any length will do");
        let parts = match what {
            For::Put { key } => ["emi put", key, "", ""],
            For::Get { org, run, name } => ["emi get", org, run, name],
        };
        // Lengths keep the end of one part from being the start of the next.
        for part in parts {
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part.as_bytes());
        }
        mac.update(&expires_s.to_le_bytes());
        mac
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn signer(store: &Store) -> (Signer, base::clock::Hand) {
        let (clock, hand) = Clock::manual(1_700_000_000_000);
        (Signer::open(store, clock).await.unwrap(), hand)
    }

    #[tokio::test]
    async fn an_address_is_good_for_one_thing_and_some_time_even_after_a_restart() {
        let store = Store::in_memory().unwrap();
        let (first, _) = signer(&store).await;
        let put = For::Put { key: "abc" };
        let signed = first.sign(put);
        assert_eq!(signed.signature.len(), 43);
        let (again, hand) = signer(&store).await;
        again.check(put, &signed).unwrap();
        hand.advance_ms(GOOD_S * 1000);
        again.check(put, &signed).unwrap();
        hand.advance_ms(1000);
        assert!(matches!(again.check(put, &signed), Err(Error::Signature)));
        again.check_late(put, &signed, 1).unwrap();
        hand.advance_ms(1000);
        let late = again.check_late(put, &signed, 1);
        assert!(matches!(late, Err(Error::Signature)));
        let later = Signed {
            expires_s: signed.expires_s + 10,
            ..signed
        };
        assert!(matches!(again.check(put, &later), Err(Error::Signature)));
    }

    #[tokio::test]
    async fn nothing_else_passes_for_it() {
        let store = Store::in_memory().unwrap();
        let (signer, _) = signer(&store).await;
        let get = |org, run, name| For::Get { org, run, name };
        let signed = signer.sign(get("org", "run", "a/b"));
        signer.check(get("org", "run", "a/b"), &signed).unwrap();
        let others = [
            get("org", "run", "a"),
            get("org", "runa", "/b"),
            get("other", "run", "a/b"),
            For::Put { key: "org" },
        ];
        for other in others {
            assert!(signer.check(other, &signed).is_err(), "{other:?}");
        }
        for signature in ["", "x", &"A".repeat(43), &signed.signature[1..], "ä"] {
            let forged = Signed {
                expires_s: signed.expires_s,
                signature: signature.to_owned(),
            };
            assert!(signer.check(get("org", "run", "a/b"), &forged).is_err());
        }
        let (elsewhere, _) = self::signer(&Store::in_memory().unwrap()).await;
        assert!(elsewhere.check(get("org", "run", "a/b"), &signed).is_err());
        assert!(!format!("{signed:?}").contains(&signed.signature));
    }
}
