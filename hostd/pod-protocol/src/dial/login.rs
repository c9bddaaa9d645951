//! How a pod proves who it is: it signs a nonce of the server with its identity key.
//!
//! In the second version the signature also covers the name under which the pod knows the server, so that nobody in
//! between can pass on a nonce of one server as its own.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// Longest nonce that pods take.
pub const NONCE_BYTES_MAX: usize = 128;

/// Bytes of a pod's public key.
pub const KEY_BYTES: usize = 32;

/// Bytes of a signature.
pub const SIGNATURE_BYTES: usize = 64;

/// What is signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// The nonce.
    V1,
    /// The server's name and the nonce.
    V2,
}

impl Version {
    /// The version that the query parameter `auth` asks for.
    pub fn named(auth: Option<&str>) -> Option<Self> {
        match auth {
            None | Some("v1") => Some(Self::V1),
            Some("v2") => Some(Self::V2),
            Some(_) => None,
        }
    }

    /// The bytes that the pod signs. `host` is the server's name, in lower case and without a port.
    pub fn signed(self, host: &str, nonce: &[u8]) -> Vec<u8> {
        match self {
            Self::V1 => [b"benchpod-ws-auth:v1\0", nonce].concat(),
            Self::V2 => [b"benchpod-ws-auth:v2\0", host.as_bytes(), b"\0", nonce].concat(),
        }
    }
}

/// A public key as it is written: 43 characters of base64url.
pub fn key(text: &str) -> Option<[u8; KEY_BYTES]> {
    exactly(text)
}

/// A signature as it is written, with or without padding.
pub fn signature(text: &str) -> Option<[u8; SIGNATURE_BYTES]> {
    exactly(text.trim_end_matches('='))
}

/// A nonce as it is written.
pub fn nonce(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end_matches('=');
    // Longer text is not even decoded.
    if text.len() > NONCE_BYTES_MAX.div_ceil(3) * 4 {
        return None;
    }
    let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
    (1..=NONCE_BYTES_MAX)
        .contains(&bytes.len())
        .then_some(bytes)
}

/// Bytes as they are written.
pub fn text(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn exactly<const N: usize>(text: &str) -> Option<[u8; N]> {
    if text.len() != (N * 4).div_ceil(3) {
        return None;
    }
    URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_of_one_version_is_none_of_the_other() {
        let (one, two) = (
            Version::V1.signed("bench.example", b"n"),
            Version::V2.signed("bench.example", b"n"),
        );
        assert_eq!(one, b"benchpod-ws-auth:v1\0n");
        assert_eq!(two, b"benchpod-ws-auth:v2\0bench.example\0n");
        assert_eq!(Version::named(None), Some(Version::V1));
        assert_eq!(Version::named(Some("v2")), Some(Version::V2));
        assert_eq!(Version::named(Some("v3")), None);
    }

    #[test]
    fn keys_signatures_and_nonces_have_their_lengths() {
        assert_eq!(key(&text(&[7; 32])), Some([7; 32]));
        assert_eq!(signature(&text(&[7; 64])), Some([7; 64]));
        assert_eq!(signature(&format!("{}==", text(&[7; 64]))), Some([7; 64]));
        for wrong in [
            text(&[7; 31]),
            text(&[7; 33]),
            "=".repeat(43),
            String::new(),
        ] {
            assert_eq!(key(&wrong), None, "{wrong}");
        }
        assert_eq!(nonce(&text(&[1; 128])), Some(vec![1; 128]));
        for wrong in [text(&[1; 129]), String::new(), "a b".to_owned()] {
            assert_eq!(nonce(&wrong), None, "{wrong}");
        }
    }
}
