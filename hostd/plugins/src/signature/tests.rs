//! Signatures: one of the original program, and our own, right and wrong.

use super::*;
use crate::fuzz;
use crate::testing::Signer;

/// A key and a signature over `test`, made by minisign itself.
const KEY: &str = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
const SIGNATURE: &str = "untrusted comment: signature from minisign secret key\n\
    RUQf6LRCGA9i559r3g7V1qNyJDApGip8MfqcadIgT9CuhV3EMhHoN1mGTkUidF/z7SrlQgXdy8ofjb7bNJJylDOocrCo8KLzZwo=\n\
    trusted comment: timestamp:1556193335\tfile:test\n\
    y/rUw2y8/hOUYjZU71eHp/Wo1KZ40fGy2VJEDl34XMJM+TX48Ss/17u3IvIfbVR1FkZZSNCisQbuQY+bHwhEBg==\n";

fn manifest(text: &str) -> Manifest {
    Manifest::parse(text.as_bytes()).unwrap()
}

#[test]
fn what_minisign_signs_is_verified() {
    let keys = Keys::parse([KEY]).unwrap();
    let signature = Signature::parse(SIGNATURE.as_bytes()).unwrap();
    assert_eq!(signature.key(), "E7620F1842B4E81F");
    assert_eq!(keys.verify(b"test", &signature), Ok(()));
    let key = signature.key.clone();
    assert_eq!(
        keys.verify(b"Test", &signature),
        Err(SignatureError::Wrong { key })
    );
    let comment = SIGNATURE.replace("file:test", "file:Test");
    let comment = Signature::parse(comment.as_bytes()).unwrap();
    assert!(keys.verify(b"test", &comment).is_err());
}

#[test]
fn the_policy_decides() {
    let (own, other) = (Signer::new(1), Signer::new(2));
    let keys = Keys::parse([own.public().as_str()]).unwrap();
    let text = include_str!("../manifest/tests/good.toml");
    let read = manifest(text);
    let judge = |policy, signature: Option<&str>, text: &str| {
        let signature = signature.map(|s| Signature::parse(s.as_bytes()).unwrap());
        keys.judge(policy, &read, text.as_bytes(), signature.as_ref())
    };
    let (good, foreign) = (own.sign(text.as_bytes()), other.sign(text.as_bytes()));
    let (key, unknown) = (own.id(), other.id());
    for policy in [Policy::Required, Policy::Optional] {
        assert_eq!(
            judge(policy, Some(&good), text),
            Ok(Origin::Signed { key: key.clone() })
        );
        let wrong = Err(SignatureError::Wrong { key: key.clone() });
        assert_eq!(judge(policy, Some(&good), "changed"), wrong);
    }
    assert_eq!(
        judge(Policy::Required, None, text),
        Err(SignatureError::Missing)
    );
    assert_eq!(judge(Policy::Optional, None, text), Ok(Origin::Unsigned));
    let untrusted = Err(SignatureError::Untrusted {
        key: unknown.clone(),
    });
    assert_eq!(judge(Policy::Required, Some(&foreign), text), untrusted);
    assert_eq!(
        judge(Policy::Optional, Some(&foreign), text),
        Ok(Origin::Unknown { key: unknown })
    );
}

#[test]
fn a_stranger_with_a_trusted_keys_id_signs_nothing() {
    let (own, other) = (Signer::new(1), Signer::new(2).with_id_of(1));
    let keys = Keys::parse([own.public().as_str()]).unwrap();
    let forged = Signature::parse(other.sign(b"x").as_bytes()).unwrap();
    assert!(matches!(
        keys.verify(b"x", &forged),
        Err(SignatureError::Wrong { .. })
    ));
}

#[test]
fn a_signed_manifest_vouches_for_its_component() {
    let own = Signer::new(1);
    let keys = Keys::parse([own.public().as_str()]).unwrap();
    let text = "[plugin]\nid = \"a.b\"\nversion = \"0.1.0\"\napi = \"1.0\"";
    let signature = Signature::parse(own.sign(text.as_bytes()).as_bytes()).unwrap();
    let judged = keys.judge(
        Policy::Optional,
        &manifest(text),
        text.as_bytes(),
        Some(&signature),
    );
    assert_eq!(judged, Err(SignatureError::NoDigest));
}

#[test]
fn what_is_no_key_or_signature_is_refused() {
    for bad in ["", "RWQ", &KEY[..55], "UldRZjZMUkNHQTlp"] {
        assert_eq!(
            Keys::parse([bad]).unwrap_err(),
            KeyError::Malformed,
            "{bad}"
        );
    }
    assert_eq!(
        Keys::parse([KEY; KEYS_MAX + 1]).unwrap_err(),
        KeyError::TooMany
    );
    let long = format!("{SIGNATURE}{}", "x".repeat(BYTES_MAX));
    assert_eq!(
        Signature::parse(long.as_bytes()).unwrap_err(),
        SignatureError::Malformed
    );
    fuzz::seeded(SIGNATURE.as_bytes(), 5000, 0x51, |bytes| {
        fuzz::signature(bytes);
        let keys = Keys::parse([KEY]).unwrap();
        if let Ok(signature) = Signature::parse(bytes) {
            // Changes of the untrusted comment change nothing.
            let is_same = SIGNATURE
                .lines()
                .skip(1)
                .eq(String::from_utf8_lossy(bytes).lines().skip(1).take(3));
            assert!(keys.verify(b"test", &signature).is_err() || is_same);
        }
    });
}
