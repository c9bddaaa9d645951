//! Over TLS a pod tells its proof only to a server whose certificate it trusts.

use std::io::Write as _;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};

use super::*;
use crate::certificate::tests::pem;

const SEED: u64 = 3;

const NONCE: [u8; 32] = [7; 32];

/// An authority, as PEM, and a server with a certificate of it for `localhost`.
fn authority_and_server() -> (String, TlsAcceptor) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = pem("CERTIFICATE", params.self_signed(&key).unwrap().der());
    let issuer = Issuer::new(params, key);
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, &issuer).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    (authority, TlsAcceptor::from(Arc::new(config)))
}

/// Serves one pod: the path and query of its upgrade, or how it hung up.
async fn serve(listener: TcpListener, acceptor: TlsAcceptor) -> io::Result<String> {
    let (stream, _) = listener.accept().await?;
    let mut stream = acceptor.accept(stream).await?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    let body = format!("{{\"nonce\":\"{}\"}}", login::text(&NONCE));
    let length = body.len();
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}");
    stream.write_all(answer.as_bytes()).await?;
    let mut asked = String::new();
    #[expect(clippy::result_large_err, reason = "the library's callback returns it")]
    let look = |request: &Request, response: Response| {
        asked = request.uri().to_string();
        Ok(response)
    };
    tokio_tungstenite::accept_hdr_async(stream, look)
        .await
        .map_err(io::Error::other)?;
    Ok(asked)
}

/// What the pod and the server say of a connection to a name.
async fn dialled(host: &str, knows_authority: bool) -> (Result<(), DialError>, io::Result<String>) {
    let (authority, acceptor) = authority_and_server();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(authority.as_bytes()).unwrap();
    let trust = Trust::with(knows_authority.then_some(file.path())).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let dial = Dial {
        tls: true,
        host: host.to_owned(),
        port: listener.local_addr().unwrap().port(),
        device_id: "01D".to_owned(),
    };
    let serving = tokio::spawn(serve(listener, acceptor));
    let connected = connect(&dial, &trust, SEED).await.map(drop);
    (connected, serving.await.unwrap())
}

#[tokio::test]
async fn a_server_of_a_known_authority_gets_the_proof() {
    let (connected, asked) = dialled("localhost", true).await;
    connected.unwrap();
    let signed = identity::sign_login(SEED, Version::V2, "localhost", &NONCE);
    let asked = asked.unwrap();
    assert!(
        asked.contains(&format!("signature={signed}&auth=v2")),
        "{asked}"
    );
}

#[tokio::test]
async fn others_are_told_nothing() {
    for (host, knows_authority) in [("localhost", false), ("127.0.0.1", true)] {
        let (connected, asked) = dialled(host, knows_authority).await;
        let error = connected.unwrap_err().to_string();
        assert!(error.contains("invalid peer certificate"), "{error}");
        // It hung up within the handshake.
        asked.unwrap_err();
    }
}
