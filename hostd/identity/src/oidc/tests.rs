//! Tokens that must be accepted, and many that must not.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jsonwebtoken::{EncodingKey, Header};
use serde_json::{Value, json};

use super::*;

/// A key pair made for these tests and used nowhere else.
const PEM: &str = include_str!("tests/key.pem");
const SET: &str = include_str!("tests/keys.json");

/// 2026-11-21T09:54:16Z
const NOW_S: u64 = 1_795_254_856;

struct Stage {
    oidc: Oidc,
    dir: tempfile::TempDir,
}

fn stage() -> Stage {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys.json");
    std::fs::write(&path, SET).unwrap();
    let config = OidcConfig {
        issuer: "https://issuer".into(),
        audience: "us".into(),
        jwks: path.display().to_string(),
    };
    let (clock, _) = Clock::manual(NOW_S * 1000);
    Stage {
        oidc: Oidc::new(&config, clock),
        dir,
    }
}

fn claims() -> Value {
    json!({"iss": "https://issuer", "aud": "us", "exp": NOW_S + 300, "nbf": NOW_S - 5,
        "iat": NOW_S, "repository": "acme/blinky", "ref": "refs/heads/main", "sub": "repo:acme"})
}

fn header(kid: &str, alg: Algorithm) -> Header {
    let mut header = Header::new(alg);
    header.kid = Some(kid.to_owned());
    header
}

/// The key of the tests, out of its PEM armour.
fn signing_key() -> EncodingKey {
    let body: String = PEM.lines().filter(|l| !l.starts_with("---")).collect();
    EncodingKey::from_rsa_der(&STANDARD.decode(body).unwrap())
}

fn sign(claims: &Value, kid: &str) -> String {
    jsonwebtoken::encode(&header(kid, Algorithm::RS256), claims, &signing_key()).unwrap()
}

fn with(name: &str, value: Value) -> Value {
    let mut claims = claims();
    claims[name] = value;
    claims
}

#[tokio::test]
async fn a_run_is_read_from_a_good_token() {
    let stage = stage();
    let run = stage.oidc.verify(&sign(&claims(), "test")).await.unwrap();
    assert_eq!(
        (run.repository.as_str(), run.r#ref.as_str()),
        ("acme/blinky", "refs/heads/main")
    );
    let several = with("aud", json!(["else", "us"]));
    stage.oidc.verify(&sign(&several, "test")).await.unwrap();
}

#[tokio::test]
async fn what_the_provider_did_not_say_to_us_is_refused() {
    let stage = stage();
    for bad in [
        with("iss", json!("https://else")),
        with("aud", json!("else")),
        with("aud", json!([])),
        with("repository", Value::Null),
        with("exp", Value::Null),
    ] {
        let refused = stage.oidc.verify(&sign(&bad, "test")).await;
        assert!(matches!(refused, Err(OidcError::Invalid)), "{bad}");
    }
    for (name, value) in [("exp", NOW_S - 61), ("nbf", NOW_S + 61)] {
        let token = sign(&with(name, json!(value)), "test");
        let refused = stage.oidc.verify(&token).await;
        assert!(matches!(refused, Err(OidcError::Expired)), "{name}");
    }
}

#[tokio::test]
async fn no_algorithm_but_ours() {
    let stage = stage();
    let good = sign(&claims(), "test");
    let parts: Vec<&str> = good.split('.').collect();
    // Signed by the public key as if it were a shared secret.
    let shared = EncodingKey::from_secret(SET.as_bytes());
    let mut forged = vec![
        jsonwebtoken::encode(&header("test", Algorithm::HS256), &claims(), &shared).unwrap(),
        jsonwebtoken::encode(
            &header("shared", Algorithm::HS256),
            &claims(),
            &EncodingKey::from_secret(b"secret"),
        )
        .unwrap(),
        sign(&claims(), "weak"),
        sign(&claims(), "unknown"),
        "x".repeat(TOKEN_BYTES_MAX + 1),
    ];
    for head in [
        "eyJhbGciOiJub25lIiwia2lkIjoidGVzdCJ9",
        "eyJhbGciOiJub25lIn0",
    ] {
        forged.push(format!("{head}.{}.", parts[1]));
        forged.push(format!("{head}.{}.{}", parts[1], parts[2]));
    }
    forged.push(format!("{}.{}.", parts[0], parts[1]));
    forged.push(format!("{}.{}", parts[0], parts[1]));
    for token in forged {
        let refused = stage.oidc.verify(&token).await;
        assert!(matches!(refused, Err(OidcError::Invalid)), "{token}");
    }
    // Every byte counts.
    let at = good.len() - 20;
    let other = if good.as_bytes()[at] == b'A' {
        "B"
    } else {
        "A"
    };
    let mut changed = good.clone();
    changed.replace_range(at..=at, other);
    assert!(stage.oidc.verify(&changed).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn keys_are_read_again_for_an_unknown_one_but_not_often() {
    let stage = stage();
    let path = stage.dir.path().join("keys.json");
    std::fs::write(&path, r#"{"keys": []}"#).unwrap();
    let token = sign(&claims(), "test");
    assert!(stage.oidc.verify(&token).await.is_err());
    std::fs::write(&path, SET).unwrap();
    assert!(stage.oidc.verify(&token).await.is_err());
    tokio::time::advance(std::time::Duration::from_secs(61)).await;
    stage.oidc.verify(&token).await.unwrap();
    // Known keys outlive a provider that is away, for a day.
    std::fs::write(&path, "not json").unwrap();
    tokio::time::advance(std::time::Duration::from_secs(2 * 3600)).await;
    stage.oidc.verify(&token).await.unwrap();
    tokio::time::advance(std::time::Duration::from_secs(23 * 3600)).await;
    assert!(matches!(
        stage.oidc.verify(&token).await,
        Err(OidcError::NoKeys)
    ));
}
