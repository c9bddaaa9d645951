//! The keyed hash under which key secrets and sign-in codes are stored. Somebody who reads the
//! table cannot use them, nor test guesses without the server's key.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;

/// An HMAC-SHA-256.
#[derive(Clone, Copy)]
pub(super) struct Digest([u8; 32]);

/// The server's hash key, expanded once.
#[derive(Clone)]
pub(super) struct Hasher(Hmac<Sha256>);

impl Hasher {
    pub(super) fn new(key: &[u8; 32]) -> Self {
        Self(Hmac::new_from_slice(key).expect("HMAC takes keys of any length"))
    }

    /// Hash of a key's secret, bound to its id, so that it is useless under another id.
    pub(super) fn key(&self, kid: &str, secret: &str) -> Digest {
        self.digest(&["key", kid, secret])
    }

    /// Of a sign-in code.
    pub(super) fn code(&self, code: &str) -> Digest {
        self.digest(&["code", code])
    }

    /// Of one of the secrets in a refresh token.
    pub(super) fn refresh(&self, secret: &str) -> Digest {
        self.digest(&["refresh", secret])
    }

    /// Bytes that only this server can make, for the demo key.
    pub(super) fn derive(&self, label: &str, round: &str) -> [u8; 32] {
        self.digest(&["derive", label, round]).0
    }

    fn digest(&self, parts: &[&str]) -> Digest {
        let mut mac = self.0.clone();
        for part in parts {
            mac.update(part.as_bytes());
            mac.update(&[0]);
        }
        Digest(mac.finalize().into_bytes().into())
    }
}

impl Digest {
    /// Compared against when there is no stored digest; nobody can present it.
    pub(super) const NONE: Self = Self([0; 32]);

    /// Constant-time equality.
    pub(super) fn matches(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }

    pub(super) fn to_text(self) -> String {
        STANDARD_NO_PAD.encode(self.0)
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let bytes = STANDARD_NO_PAD.decode(text).ok()?;
        Some(Self(bytes.try_into().ok()?))
    }
}
