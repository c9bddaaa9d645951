//! Receivers whose certificate a private authority has signed.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use base::config::WebhooksConfig;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use store::webhooks::Phase;
use tempfile::TempDir;

use crate::stage::{ORG, Stage, limits, local};

/// A receiver that accepts everything under TLS, and the authority that vouches for it.
struct Private {
    folder: TempDir,
    url: String,
}

impl Private {
    fn start() -> Self {
        let authority_key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = params.self_signed(&authority_key).unwrap();
        let key = KeyPair::generate().unwrap();
        let own = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        let issuer = Issuer::from_params(&params, &authority_key);
        let own = own.signed_by(&key, &issuer).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let base64 = STANDARD.encode(authority.der());
        let pem = format!("-----BEGIN CERTIFICATE-----\n{base64}\n-----END CERTIFICATE-----\n");
        std::fs::write(folder.path().join("ca.pem"), pem).unwrap();
        let ring = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(ring)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![own.der().clone()],
                PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
            );
        let config = Arc::new(config.unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("https://{}/", listener.local_addr().unwrap());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let connection = ServerConnection::new(config.clone()).unwrap();
                let mut stream = StreamOwned::new(connection, stream);
                let mut seen = Vec::new();
                let mut piece = [0; 4096];
                // A head and a JSON body; who does not trust the certificate leaves before.
                while let Ok(len @ 1..) = stream.read(&mut piece) {
                    seen.extend_from_slice(&piece[..len]);
                    if seen.ends_with(b"}") {
                        let _ = stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n");
                        break;
                    }
                }
            }
        });
        Self { folder, url }
    }

    fn trusted(&self) -> WebhooksConfig {
        WebhooksConfig {
            ca_file: self.folder.path().join("ca.pem"),
            ..local()
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_private_authority_is_trusted_once_it_is_configured() {
    let receiver = Private::start();
    let stage = Stage::with(limits(), &local(), &[]).await;
    let made = stage.webhook(ORG, receiver.url.clone()).await;
    stage.tell(vec![stage.ended(ORG)]).await;
    let tried = stage.until(&made.webhook.id, |d| d.attempts > 0).await;
    let told = tried.last.unwrap().error.unwrap();
    assert!(told.contains("certificate is not accepted"), "{told}");
    let stage = Stage::with(limits(), &receiver.trusted(), &[]).await;
    let made = stage.webhook(ORG, receiver.url.clone()).await;
    stage.tell(vec![stage.ended(ORG)]).await;
    let done = stage.until_phase(&made.webhook.id, Phase::Delivered).await;
    assert_eq!(done.last.unwrap().status, Some(204));
    // Another authority does not vouch for it.
    let other = Private::start();
    let stage = Stage::with(limits(), &other.trusted(), &[]).await;
    let made = stage.webhook(ORG, receiver.url.clone()).await;
    stage.tell(vec![stage.ended(ORG)]).await;
    let tried = stage.until(&made.webhook.id, |d| d.attempts > 0).await;
    assert_eq!(tried.last.unwrap().status, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_authorities_that_is_not_there_is_told_at_the_start() {
    let webhooks = WebhooksConfig {
        ca_file: PathBuf::from("/nowhere/ca.pem"),
        ..local()
    };
    let kept = Stage::start().await.kept();
    let refused = Stage::open(kept, limits(), &webhooks, &[]);
    let error = refused.map(drop).unwrap_err();
    assert_eq!(error.to_string(), "read /nowhere/ca.pem");
}
