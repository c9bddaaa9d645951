//! Certificates with every kind of key are read and installed by an update, and never make the
//! reader panic.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use fastrand::Rng;
use rcgen::{CertificateParams, DnType, KeyPair, SignatureAlgorithm};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{Facts, bundle, read};
use crate::tests::{Client, bench};
use crate::{Origin, SimConfig};

/// A self-signed RSA certificate for `CN=rsa.example`, valid until 2044-03-04.
const RSA: &[u8] = include_bytes!("testdata/rsa2048.der");

pub(crate) fn pem(label: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let mut pem = format!("-----BEGIN {label}-----\n");
    for line in text.as_bytes().chunks(64) {
        pem.push_str(std::str::from_utf8(line).unwrap());
        pem.push('\n');
    }
    pem + &format!("-----END {label}-----\n")
}

/// A certificate and its key.
fn made(algorithm: &'static SignatureAlgorithm) -> (Vec<u8>, Vec<u8>) {
    let key = KeyPair::generate_for(algorithm).unwrap();
    let names = ["pod.example".to_owned(), "10.0.0.7".to_owned()];
    let mut params = CertificateParams::new(names).unwrap();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params
        .distinguished_name
        .push(DnType::OrganizationName, "Bench");
    params.distinguished_name.push(DnType::CommonName, "pod");
    params.not_after = rcgen::date_time_ymd(2031, 7, 9);
    let certificate = params.self_signed(&key).unwrap();
    (certificate.der().to_vec(), key.serialize_der())
}

#[test]
fn each_kind_of_key_is_named() {
    for (algorithm, name) in [
        (&rcgen::PKCS_ED25519, "Ed25519"),
        (&rcgen::PKCS_ECDSA_P256_SHA256, "EC P-256"),
        (&rcgen::PKCS_ECDSA_P384_SHA384, "EC P-384"),
    ] {
        let (der, _) = made(algorithm);
        let expected = Facts {
            subject: "O=Bench,CN=pod".to_owned(),
            names: vec!["pod.example".to_owned(), "10.0.0.7".to_owned()],
            key: name.to_owned(),
            not_after: "2031-07-09".to_owned(),
            sha256: hex::encode(Sha256::digest(&der)),
        };
        assert_eq!(read(&der), Some(expected));
    }
    let rsa = read(RSA).unwrap();
    assert_eq!(rsa.key, "RSA 2048");
    assert_eq!(rsa.subject, "CN=rsa.example");
    assert_eq!(rsa.not_after, "2044-03-04");
}

#[test]
fn anything_is_read_or_refused() {
    let (der, _) = made(&rcgen::PKCS_ECDSA_P256_SHA256);
    let mut random = Rng::with_seed(5);
    for valid in [&der[..], RSA] {
        for end in 0..valid.len() {
            assert_eq!(read(&valid[..end]), None);
        }
        for _ in 0..20_000 {
            let mut bytes = valid.to_vec();
            for _ in 0..=random.usize(..4) {
                let at = random.usize(..bytes.len());
                bytes[at] = u8::try_from(random.usize(..256)).unwrap();
            }
            if let Some(facts) = read(&bytes) {
                assert_eq!(facts.sha256, hex::encode(Sha256::digest(&bytes)));
            }
        }
    }
}

async fn install(client: &mut Client, target: &str, bytes: &[u8]) -> Value {
    client
        .ok(
            json!({"cmd": "ota_begin", "size": bytes.len(), "target": target,
            "sha256": hex::encode(Sha256::digest(bytes))}),
        )
        .await;
    for (index, piece) in bytes.chunks(768).enumerate() {
        let data = URL_SAFE_NO_PAD.encode(piece);
        client
            .ok(json!({"cmd": "ota_data", "offset": index * 768, "data": data}))
            .await;
    }
    let ended = client.ok(json!({"cmd": "ota_end"})).await;
    if ended["state"] == "verified" {
        client.ok(json!({"cmd": "ota_commit"})).await
    } else {
        ended
    }
}

#[tokio::test(start_paused = true)]
async fn a_certificate_of_the_users_is_installed() {
    let pod = bench(SimConfig::default());
    let mut client = Client::from(&pod, Origin::LanTls).await;
    let (der, key) = made(&rcgen::PKCS_ECDSA_P256_SHA256);
    let (_, other) = made(&rcgen::PKCS_ECDSA_P256_SHA256);
    let certificate = pem("CERTIFICATE", &der);
    for (bundle, error) in [
        ("nothing".to_owned(), "there is no private key in it"),
        (certificate.clone(), "there is no private key in it"),
        (pem("PRIVATE KEY", &key), "there is no certificate in it"),
        (
            certificate.clone() + &pem("PRIVATE KEY", &other),
            "certificate and key do not go together: keys may not be consistent: KeyMismatch",
        ),
    ] {
        let session = install(&mut client, "tls", bundle.as_bytes()).await;
        assert_eq!(
            (&session["state"], &session["error"]),
            (&json!("error"), &json!(error))
        );
    }
    let session = install(
        &mut client,
        "tls",
        (certificate + &pem("PRIVATE KEY", &key)).as_bytes(),
    )
    .await;
    assert_eq!(session["state"], "installed");
    let tls = client.ok(json!({"cmd": "lan_tls"})).await;
    for (field, expected) in [
        ("origin", json!("user")),
        ("key", json!("EC P-256")),
        ("subject", json!("O=Bench,CN=pod")),
        ("san", json!(["pod.example", "10.0.0.7"])),
        ("not_after", json!("2031-07-09")),
        ("sha256", json!(hex::encode(Sha256::digest(&der)))),
    ] {
        assert_eq!(tls[field], expected, "{field}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_company_ca_is_installed_and_cleared() {
    let pod = bench(SimConfig::default());
    let mut client = Client::from(&pod, Origin::Usb).await;
    let (der, _) = made(&rcgen::PKCS_ECDSA_P384_SHA384);
    let chain = pem("CERTIFICATE", &der) + &pem("CERTIFICATE", RSA);
    assert_eq!(bundle(chain.as_bytes()).unwrap().len(), 2);
    let session = install(&mut client, "ca", chain.as_bytes()).await;
    assert_eq!(session["state"], "installed");
    let stored = client.ok(json!({"cmd": "cloud_ca"})).await;
    let certs = json!([
        {"subject": "O=Bench,CN=pod", "sha256": hex::encode(Sha256::digest(&der))},
        {"subject": "CN=rsa.example", "sha256": hex::encode(Sha256::digest(RSA))},
    ]);
    assert_eq!(stored, json!({"present": true, "certs": certs}));
    let cleared = client.ok(json!({"cmd": "cloud_ca", "clear": true})).await;
    assert_eq!(cleared, json!({"present": false, "certs": []}));
    let session = install(&mut client, "ca", b"nothing").await;
    assert_eq!(session["error"], "there is no certificate in it");
}
