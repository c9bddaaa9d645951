//! Sealing of values: ChaCha20-Poly1305 under the key of the key file, bound to organisation and name.
//!
//! The nonce is random. One key may seal 2^32 values before two nonces are likely to be the same; people do not write
//! that many.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

use crate::key::Key;

/// What kind of record is sealed, before organisation and name.
const KIND: &str = "hostd-secret-1";

/// The encrypted `value` of a secret, as text.
pub(crate) fn seal(key: &Key, org: &str, name: &str, value: &str) -> String {
    let mut nonce = [0; NONCE_LEN];
    getrandom::fill(&mut nonce).expect("the operating system provides random bytes");
    let mut sealed = value.as_bytes().to_vec();
    cipher(key)
        .seal_in_place_append_tag(
            Nonce::assume_unique_for_key(nonce),
            Aad::from(bound_to(org, name)),
            &mut sealed,
        )
        .expect("values are shorter than the cipher's limit");
    STANDARD.encode([&nonce[..], &sealed].concat())
}

/// The value that was sealed for this organisation and name under this key; none if it was not.
pub(crate) fn open(key: &Key, org: &str, name: &str, sealed: &str) -> Option<String> {
    let bytes = STANDARD.decode(sealed).ok()?;
    let (nonce, sealed) = bytes.split_first_chunk::<NONCE_LEN>()?;
    let mut sealed = sealed.to_vec();
    let value = cipher(key)
        .open_in_place(
            Nonce::assume_unique_for_key(*nonce),
            Aad::from(bound_to(org, name)),
            &mut sealed,
        )
        .ok()?;
    String::from_utf8(value.to_vec()).ok()
}

fn cipher(key: &Key) -> LessSafeKey {
    let key = UnboundKey::new(&CHACHA20_POLY1305, key.bytes());
    LessSafeKey::new(key.expect("a key has the cipher's length"))
}

/// Neither part has a NUL, so no two pairs give the same bytes.
fn bound_to(org: &str, name: &str) -> Vec<u8> {
    format!("{KIND}\0{org}\0{name}").into_bytes()
}
