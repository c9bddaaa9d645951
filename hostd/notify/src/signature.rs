//! Signatures of messages, by the specification Standard Webhooks.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use store::webhooks::KEY_BYTES;

/// What secrets of receivers begin with.
const SECRET_PREFIX: &str = "whsec_";

/// What a signature of this kind begins with.
const VERSION: &str = "v1";

/// The secret as its owner gets it.
pub(crate) fn secret(key: &[u8; KEY_BYTES]) -> String {
    format!("{SECRET_PREFIX}{}", STANDARD.encode(key))
}

/// Value of the header `webhook-signature`.
pub(crate) fn sign(key: &[u8; KEY_BYTES], id: &str, at_s: u64, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.update(format!("{id}.{at_s}.").as_bytes());
    mac.update(body.as_bytes());
    format!("{VERSION},{}", STANDARD.encode(mac.finalize().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_what_others_compute() {
        // python3: base64.b64encode(hmac.new(bytes(range(32)), b'msg_1.1700000000.{"a":1}', 'sha256').digest())
        let key = std::array::from_fn(|i| u8::try_from(i).unwrap());
        assert_eq!(
            sign(&key, "msg_1", 1_700_000_000, r#"{"a":1}"#),
            "v1,AMaOha7DUT/0J0JMycRuYOBSvbx3WtwLd2khXXbaVj4="
        );
        assert_eq!(
            secret(&key),
            "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
        );
    }
}
