//! A pod's public key, and what proves that somebody has the other half.

use ed25519_dalek::{Signature, VerifyingKey};
use pod_protocol::dial::login::{self, Version};

use super::Key;

/// Whether it is a key at all, and none under which everybody could sign.
pub(super) fn is_usable(key: &Key) -> bool {
    VerifyingKey::from_bytes(key).is_ok_and(|key| !key.is_weak())
}

/// Whether `signature` is by the pod with this key, over the nonce and, as the version has it, one of the names under
/// which pods know this server.
pub fn verify(
    public_key: &str,
    version: Version,
    hosts: &[String],
    nonce: &[u8],
    signature: &str,
) -> bool {
    let key = login::key(public_key).and_then(|key| VerifyingKey::from_bytes(&key).ok());
    let signature = login::signature(signature).map(|bytes| Signature::from_bytes(&bytes));
    let Some((key, signature)) = key.zip(signature) else {
        return false;
    };
    let signs = |host: &str| {
        key.verify_strict(&version.signed(host, nonce), &signature)
            .is_ok()
    };
    match version {
        Version::V1 => signs(""),
        Version::V2 => hosts.iter().any(|host| signs(host)),
    }
}

#[cfg(test)]
mod tests {
    //! Only the key's own signature over what was asked is one.

    use ed25519_dalek::{Signer as _, SigningKey};

    use super::*;

    #[test]
    fn a_signature_is_over_key_nonce_and_name() {
        let pair = SigningKey::from_bytes(&[3; 32]);
        let public = login::text(pair.verifying_key().as_bytes());
        let other = login::text(SigningKey::from_bytes(&[4; 32]).verifying_key().as_bytes());
        let hosts = ["bench.example".to_owned(), "10.0.0.7".to_owned()];
        let sign = |version: Version, host, nonce: &[u8]| {
            login::text(&pair.sign(&version.signed(host, nonce)).to_bytes())
        };
        let one = sign(Version::V1, "", b"nonce");
        let two = sign(Version::V2, "10.0.0.7", b"nonce");
        assert!(verify(&public, Version::V1, &[], b"nonce", &one));
        assert!(verify(&public, Version::V2, &hosts, b"nonce", &two));
        let elsewhere = sign(Version::V2, "evil.example", b"nonce");
        for (key, version, nonce, signature) in [
            (&other, Version::V1, &b"nonce"[..], &one),
            (&public, Version::V1, b"other", &one),
            (&public, Version::V2, b"nonce", &one),
            (&public, Version::V1, b"nonce", &two),
            (&public, Version::V2, b"nonce", &elsewhere),
            (&public, Version::V1, b"nonce", &"x".repeat(86)),
            (&public, Version::V1, b"nonce", &String::new()),
            (&"x".to_owned(), Version::V1, b"nonce", &one),
        ] {
            assert!(
                !verify(key, version, &hosts, nonce, signature),
                "{key} {version:?}"
            );
        }
        assert!(!verify(&public, Version::V2, &[], b"nonce", &two));
    }

    #[test]
    fn a_key_under_which_everybody_could_sign_is_none() {
        assert!(!is_usable(&[0; 32]));
        assert!(is_usable(
            SigningKey::from_bytes(&[3; 32]).verifying_key().as_bytes()
        ));
    }
}
