//! Sealing of values: ChaCha20-Poly1305 under the key of the key file, bound to what the value is.
//!
//! The nonce is random. One key may seal 2^32 values before two nonces are likely to be the same; people do not write
//! that many.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

use crate::key::Key;

/// What a sealed value is: put in place of another one, it cannot be opened.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Subject<'p> {
    /// A secret, by organisation and name.
    Secret(&'p str, &'p str),
    /// The signing key of a webhook, by organisation and id.
    Webhook(&'p str, &'p str),
}

impl Subject<'_> {
    /// No part has a NUL, so no two subjects give the same bytes.
    fn bytes(self) -> Vec<u8> {
        let (kind, org, name) = match self {
            Self::Secret(org, name) => ("hostd-secret-1", org, name),
            Self::Webhook(org, id) => ("hostd-webhook-1", org, id),
        };
        format!("{kind}\0{org}\0{name}").into_bytes()
    }
}

/// A value as text, encrypted.
pub(crate) fn seal(key: &Key, subject: Subject<'_>, value: &[u8]) -> String {
    let mut nonce = [0; NONCE_LEN];
    getrandom::fill(&mut nonce).expect("the operating system provides random bytes");
    let mut sealed = value.to_vec();
    cipher(key)
        .seal_in_place_append_tag(
            Nonce::assume_unique_for_key(nonce),
            Aad::from(subject.bytes()),
            &mut sealed,
        )
        .expect("values are shorter than the cipher's limit");
    STANDARD.encode([&nonce[..], &sealed].concat())
}

/// The value that was sealed for this subject under this key; none if it was not.
pub(crate) fn open(key: &Key, subject: Subject<'_>, sealed: &str) -> Option<Vec<u8>> {
    let bytes = STANDARD.decode(sealed).ok()?;
    let (nonce, sealed) = bytes.split_first_chunk::<NONCE_LEN>()?;
    let mut sealed = sealed.to_vec();
    let value = cipher(key)
        .open_in_place(
            Nonce::assume_unique_for_key(*nonce),
            Aad::from(subject.bytes()),
            &mut sealed,
        )
        .ok()?;
    Some(value.to_vec())
}

fn cipher(key: &Key) -> LessSafeKey {
    let key = UnboundKey::new(&CHACHA20_POLY1305, key.bytes());
    LessSafeKey::new(key.expect("a key has the cipher's length"))
}
