//! The pod's key: an Ed25519 pair derived from the seed, the same after every start.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::{Signer as _, SigningKey};
use pod_protocol::dial::login::{self, Version};
use serde_json::{Value, json};

use super::args::Args;
use super::noise::mix;
use super::refuse::Refuse;

/// Bytes of a secret key.
const SECRET_BYTES: usize = 32;

/// Prefix of the message signed as a proof of possession, so that the signature cannot serve as a
/// login.
const PROOF_CONTEXT: &[u8] = b"benchpod-pop:v1\0";

/// Longest nonce, in bytes.
const NONCE_BYTES_MAX: usize = 128;

/// Bytes of the public key that a pod's short name shows in hex.
const SHORT_BYTES: usize = 3;

/// 32 bytes for `purpose` that only this seed gives.
pub(crate) fn secret(seed: u64, purpose: u64) -> [u8; SECRET_BYTES] {
    let mut bytes = [0; SECRET_BYTES];
    for (index, word) in (1..).zip(bytes.chunks_exact_mut(8)) {
        word.copy_from_slice(&mix(seed ^ mix(index ^ mix(purpose))).to_be_bytes());
    }
    bytes
}

fn key(seed: u64) -> SigningKey {
    SigningKey::from_bytes(&secret(seed, 0))
}

/// The public key in the form of `identity_public`.
pub(crate) fn public_key(seed: u64) -> String {
    URL_SAFE_NO_PAD.encode(key(seed).verifying_key())
}

/// `identity_public`.
pub(crate) fn public(seed: u64) -> Value {
    json!({"public": public_key(seed)})
}

/// The pod's short name, such as `a1b2c3`.
pub(crate) fn short_id(seed: u64) -> String {
    let public = key(seed).verifying_key();
    hex::encode(&public.as_bytes()[..SHORT_BYTES])
}

/// `identity_pop`: signs a nonce of 1 to 128 bytes, given as base64url.
pub(crate) fn prove(args: &Args<'_>, seed: u64) -> Result<Value, Refuse> {
    let text = args
        .text("nonce")?
        .ok_or(Refuse::Missing { field: "nonce" })?;
    let nonce = URL_SAFE_NO_PAD.decode(text.trim_end_matches('='));
    let nonce = nonce
        .ok()
        .filter(|nonce| (1..=NONCE_BYTES_MAX).contains(&nonce.len()))
        .ok_or(Refuse::Bad {
            field: "nonce",
            want: "base64url of 1 to 128 bytes",
        })?;
    let signature = key(seed).sign(&[PROOF_CONTEXT, &nonce].concat());
    Ok(json!({"signature": URL_SAFE_NO_PAD.encode(signature.to_bytes())}))
}

/// Proves to a server that dials are answered by that this is the pod: the signature over its nonce.
pub(crate) fn sign_login(seed: u64, version: Version, host: &str, nonce: &[u8]) -> String {
    login::text(&key(seed).sign(&version.signed(host, nonce)).to_bytes())
}

#[cfg(test)]
mod tests;
