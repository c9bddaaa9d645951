//! Credentials that this server did not issue, or no longer accepts.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::{Value, json};

use super::*;

fn encode(header: &Value, claims: &Value, signature: &[u8]) -> Secret {
    let part = |v: &Value| URL_SAFE_NO_PAD.encode(v.to_string());
    let signature = URL_SAFE_NO_PAD.encode(signature);
    Secret::new(format!("{}.{}.{signature}", part(header), part(claims)))
}

fn decode(token: &Secret, part: usize) -> Value {
    let text = token.expose().split('.').nth(part).unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).unwrap()).unwrap()
}

/// A server, and a cloud session token of its owner.
async fn with_token() -> (Identity, base::clock::Hand, Secret) {
    let (identity, hand) = server().await;
    let owner = owner(&identity).await;
    let token = identity.mint_token(&owner, None, 3600).unwrap().token;
    assert!(bearer(&identity, &token).is_ok());
    (identity, hand, token)
}

fn resigned(identity: &Identity, claims: &Claims) -> Result<Verified, AuthError> {
    bearer(identity, &identity.signer.sign(claims).unwrap())
}

fn claims_of(identity: &Identity, token: &Secret) -> Claims {
    Claims::clone(&identity.signer.verify(token.expose()).unwrap())
}

#[tokio::test]
async fn changed_tokens_are_invalid() {
    let (identity, _hand, token) = with_token().await;
    let text = token.expose();
    for at in 0..text.len() {
        let mut bytes = text.as_bytes().to_vec();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        let changed = Secret::new(String::from_utf8(bytes).unwrap());
        let verified = bearer(&identity, &changed);
        assert_eq!(verified.err(), Some(AuthError::Invalid), "at {at}");
    }
}

#[tokio::test]
async fn unsigned_tokens_are_invalid() {
    let (identity, _hand, token) = with_token().await;
    let (header, claims) = (decode(&token, 0), decode(&token, 1));
    for alg in ["none", "None", "NONE", "nOnE", ""] {
        for signature in [&b""[..], &[0; 64]] {
            let mut header = header.clone();
            header["alg"] = json!(alg);
            let forged = encode(&header, &claims, signature);
            assert_eq!(
                bearer(&identity, &forged).err(),
                Some(AuthError::Invalid),
                "{alg}"
            );
        }
    }
    let forged = encode(&header, &claims, &[]);
    assert_eq!(bearer(&identity, &forged).err(), Some(AuthError::Invalid));
}

#[tokio::test]
async fn a_public_key_is_no_hmac_secret() {
    let (identity, _hand, token) = with_token().await;
    let claims = claims_of(&identity, &token);
    let secrets = identity.store.read(store::secrets::all).await.unwrap();
    let sign = secrets
        .iter()
        .find(|s| s.purpose == store::secrets::Purpose::Sign)
        .unwrap();
    let mut der = vec![
        0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20,
    ];
    der.extend(sign.bytes);
    let private = EncodingKey::from_ed_der(&der);
    let jwk = jsonwebtoken::jwk::Jwk::from_encoding_key(&private, Algorithm::EdDSA).unwrap();
    let jwk = serde_json::to_value(&jwk).unwrap();
    let public = URL_SAFE_NO_PAD.decode(jwk["x"].as_str().unwrap()).unwrap();
    for secret in [public, jwk.to_string().into_bytes(), Vec::new()] {
        for alg in [Algorithm::HS256, Algorithm::HS384, Algorithm::HS512] {
            let mut header = Header::new(alg);
            header.kid = Some(sign.id.clone());
            let key = EncodingKey::from_secret(&secret);
            let forged = jsonwebtoken::encode(&header, &claims, &key).unwrap();
            let verified = bearer(&identity, &Secret::new(forged));
            assert_eq!(verified.err(), Some(AuthError::Invalid), "{alg:?}");
        }
    }
}

#[tokio::test]
async fn another_servers_token_is_invalid_even_under_our_key_id() {
    let (identity, _hand, token) = with_token().await;
    let (_, _, foreign) = with_token().await;
    assert_eq!(bearer(&identity, &foreign).err(), Some(AuthError::Invalid));
    let claims = claims_of(&identity, &token);
    for (kid, embedded) in [
        (decode(&token, 0)["kid"].clone(), false),
        (json!("k"), true),
    ] {
        let mut der = vec![
            0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20,
        ];
        der.extend([7; 32]);
        let key = EncodingKey::from_ed_der(&der);
        let mut header = Header::new(Algorithm::EdDSA);
        header.kid = kid.as_str().map(str::to_owned);
        if embedded {
            let jwk = jsonwebtoken::jwk::Jwk::from_encoding_key(&key, Algorithm::EdDSA);
            header.jwk = Some(jwk.unwrap());
        }
        let forged = Secret::new(jsonwebtoken::encode(&header, &claims, &key).unwrap());
        assert_eq!(bearer(&identity, &forged).err(), Some(AuthError::Invalid));
    }
}

#[tokio::test]
async fn our_signature_does_not_excuse_wrong_claims() {
    let (identity, _hand, token) = with_token().await;
    let good = claims_of(&identity, &token);
    assert!(resigned(&identity, &good).is_ok());
    let sign = |claims: &Value| {
        let signer = identity.signer.sign_value(claims);
        bearer(&identity, &signer)
    };
    let claims = serde_json::to_value(&good).unwrap();
    assert!(sign(&claims).is_ok());
    for (name, value) in [
        ("iss", json!("other")),
        ("iss", json!(["hostd"])),
        ("typ", json!("refresh")),
        ("typ", json!("Cloud_Session")),
        ("typ", Value::Null),
        ("exp", json!("9999999999")),
        ("exp", json!(-1)),
        ("exp", Value::Null),
        ("aud", json!("hostd")),
        ("role", json!("owner")),
        ("sub", json!(1)),
        ("devices", json!("all")),
    ] {
        let mut claims = claims.clone();
        claims[name] = value.clone();
        assert_eq!(
            sign(&claims).err(),
            Some(AuthError::Invalid),
            "{name}: {value}"
        );
    }
    for name in ["iss", "typ", "sub", "org", "exp", "iat", "jti"] {
        let mut claims = claims.clone();
        claims.as_object_mut().unwrap().remove(name);
        assert_eq!(
            sign(&claims).err(),
            Some(AuthError::Invalid),
            "without {name}"
        );
    }
    for claims in [json!([]), json!("x"), json!({}), Value::Null] {
        assert_eq!(sign(&claims).err(), Some(AuthError::Invalid), "{claims}");
    }
}

#[tokio::test]
async fn claims_must_agree_with_what_is_stored() {
    let (identity, _hand, token) = with_token().await;
    let other = add_org(&identity, "other").await;
    let good = claims_of(&identity, &token);
    let changes: [fn(&mut Claims, &str); 4] = [
        |c, other| other.clone_into(&mut c.org),
        |c, _| c.sub = "01ARYZ6S410000000000000000".into(),
        |c, _| c.kid = Some("AAAAAAAAAAAA".into()),
        |c, _| c.epoch = Some(1),
    ];
    for change in changes {
        let mut claims = good.clone();
        change(&mut claims, &other);
        assert_eq!(resigned(&identity, &claims).err(), Some(AuthError::Revoked));
    }
}

#[tokio::test]
async fn guessed_keys_cost_and_say_the_same() {
    let (identity, _hand) = server().await;
    let owner = owner(&identity).await;
    let one = key(&identity, &owner, &["bench:control"]).await;
    let two = key(&identity, &owner, &["bench:control"]).await;
    let secret = |key: &CreatedKey| key.secret.expose().rsplit('_').next().unwrap().to_owned();
    let kid = &one.key.kid;
    let guesses = [
        format!("bk_{kid}_{}", "0".repeat(30)),
        format!("bk_{}_{}", "0".repeat(12), secret(&one)),
        format!("bk_{kid}_{}", secret(&two)),
        format!("bk_{kid}_{}x", secret(&one)),
        format!("bk_{kid}_{}", &secret(&one)[1..]),
    ];
    for guess in &guesses {
        let error = with_key(&identity, guess).unwrap_err();
        assert_eq!(error, AuthError::Invalid);
        assert!(!error.to_string().contains(kid.as_str()));
    }
    // Somebody who does not have a revoked key learns nothing more about it.
    identity.key_revoke(&owner, kid).await.unwrap();
    assert_eq!(
        with_key(&identity, &guesses[0]).unwrap_err(),
        AuthError::Invalid
    );
}

#[tokio::test]
async fn a_hash_is_bound_to_its_key_id() {
    let (identity, _hand) = server().await;
    let owner = owner(&identity).await;
    let weak = key(&identity, &owner, &["jobs:submit"]).await;
    let strong = key(&identity, &owner, &["bench:admin"]).await;
    let mut record = strong.key.clone();
    record.hash = weak.key.hash.clone();
    identity.store.key_add(record).await.unwrap();
    let again = Identity::open(identity.store.clone(), identity.clock.clone(), "bk");
    let again = again.await.unwrap();
    let secret = weak.secret.expose().rsplit('_').next().unwrap();
    let swapped = format!("bk_{}_{secret}", strong.key.kid);
    assert_eq!(with_key(&again, &swapped).unwrap_err(), AuthError::Invalid);
}

#[test]
fn errors_have_stable_codes_and_sentences() {
    let all = [
        AuthError::Missing,
        AuthError::Invalid,
        AuthError::Expired,
        AuthError::Revoked,
    ];
    let codes = all.map(AuthError::code);
    assert_eq!(
        codes,
        [
            "missing_credential",
            "invalid_credential",
            "expired_credential",
            "revoked_credential"
        ]
    );
    for error in all {
        let text = error.to_string();
        assert!(text.len() < 200 && text.contains("; "), "{text}");
    }
}

#[tokio::test]
async fn nothing_secret_shows_in_debug_or_display() {
    let (identity, _hand) = server().await;
    let owner = owner(&identity).await;
    let created = key(&identity, &owner, &["bench:control"]).await;
    let minted = identity.mint_token(&owner, None, 60).unwrap();
    let caller = bearer(&identity, &minted.token).unwrap();
    let user = identity.users().await.unwrap().remove(0);
    let code = identity.issue_code(&user.id).await.unwrap();
    let shown = format!(
        "{created:?} {minted:?} {caller:?} {user:?} {code:?} {code} {identity:?} {:?}",
        identity.keys_list(&owner).await.unwrap()
    );
    let secret = created.secret.expose().rsplit('_').next().unwrap();
    for hidden in [
        secret,
        minted.token.expose(),
        code.expose(),
        &created.key.hash,
    ] {
        assert!(!shown.contains(hidden), "{shown}");
    }
    assert!(shown.contains("[redacted]"));
}
