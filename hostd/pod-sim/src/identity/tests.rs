//! There is one key, derived from the seed, and it signs proofs of possession.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::{Signature, VerifyingKey};
use serde_json::json;

use crate::SimConfig;
use crate::tests::{Client, bench};

#[tokio::test(start_paused = true)]
async fn a_proof_is_signed_by_the_public_key() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    let public = client.ok(json!({"cmd": "identity_public"})).await;
    let public = URL_SAFE_NO_PAD
        .decode(public["public"].as_str().unwrap())
        .unwrap();
    let key = VerifyingKey::from_bytes(&public.try_into().unwrap()).unwrap();
    for nonce in [&b"\0"[..], b"a nonce", &[0xA5; 128]] {
        let text = URL_SAFE_NO_PAD.encode(nonce);
        let proof = client
            .ok(json!({"cmd": "identity_pop", "nonce": text}))
            .await;
        let signature = proof["signature"].as_str().unwrap();
        assert_eq!(signature.len(), 86);
        let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
        let signature = Signature::from_slice(&signature).unwrap();
        let message = [b"benchpod-pop:v1\0", nonce].concat();
        key.verify_strict(&message, &signature).unwrap();
        assert!(key.verify_strict(nonce, &signature).is_err());
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_no_nonce_is_refused() {
    let pod = bench(SimConfig::default());
    let mut client = Client::new(&pod).await;
    assert_eq!(
        client.refused(json!({"cmd": "identity_pop"})).await,
        "missing nonce"
    );
    for bad in [String::new(), "a b".to_owned(), "A".repeat(172)] {
        assert_eq!(
            client
                .refused(json!({"cmd": "identity_pop", "nonce": bad}))
                .await,
            "bad nonce: want base64url of 1 to 128 bytes"
        );
    }
}
