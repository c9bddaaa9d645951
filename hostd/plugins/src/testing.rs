//! For tests of this crate: signatures as `minisign` makes them, and packages.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use blake2::{Blake2b512, Digest};
use ed25519_dalek::{Signer as _, SigningKey};

use crate::package::Package;

/// The smallest component.
pub(crate) const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

/// Signs manifests.
pub(crate) struct Signer {
    key: SigningKey,
    id: [u8; 8],
}

impl Signer {
    pub(crate) fn new(seed: u8) -> Self {
        let key = SigningKey::from_bytes(&[seed; 32]);
        Self { key, id: [seed; 8] }
    }

    pub(crate) fn with_id_of(mut self, seed: u8) -> Self {
        self.id = [seed; 8];
        self
    }

    pub(crate) fn id(&self) -> String {
        hex::encode_upper(self.id)
    }

    pub(crate) fn public(&self) -> String {
        let key = self.key.verifying_key().to_bytes();
        STANDARD.encode([b"Ed", &self.id[..], &key].concat())
    }

    pub(crate) fn sign(&self, bytes: &[u8]) -> String {
        let signature = self.key.sign(&Blake2b512::digest(bytes)).to_bytes();
        let comment = "timestamp:1";
        let whole = self
            .key
            .sign(&[&signature[..], comment.as_bytes()].concat())
            .to_bytes();
        format!(
            "untrusted comment: x\n{}\ntrusted comment: {comment}\n{}\n",
            STANDARD.encode([b"ED", &self.id[..], &signature].concat()),
            STANDARD.encode(whole)
        )
    }
}

/// A package of this version that asks for what `wants` says in TOML.
pub(crate) fn package(id: &str, version: &str, wants: &str) -> Package {
    let manifest =
        format!("[plugin]\nid = \"{id}\"\nversion = \"{version}\"\napi = \"1.0\"\n{wants}");
    let component = [COMPONENT, version.as_bytes()].concat();
    Package::new(manifest.into_bytes(), component, None).unwrap()
}
