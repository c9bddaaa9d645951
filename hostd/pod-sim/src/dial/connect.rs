//! From nothing to a WebSocket of a server that knows who dials: TCP, TLS, the proof of the key, the upgrade.

use std::io;
use std::path::Path;
use std::sync::Arc;

use pod_protocol::connection::BoxedStream;
use pod_protocol::dial::FROM_POD_BYTES_MAX;
use pod_protocol::dial::login::{self, Version};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::time::{Duration, timeout};
use tokio_rustls::TlsConnector;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

use super::{Dial, DialError, answer};
use crate::identity;

/// How long connecting may take, TLS included.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(12);

/// How long an answer may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(8);

/// Whose certificates a server may show.
#[derive(Debug, Clone)]
pub struct Trust {
    config: Arc<ClientConfig>,
}

impl Trust {
    /// The authorities that browsers trust, and those in this file, as PEM.
    ///
    /// # Errors
    /// The file cannot be read, or has none.
    pub fn with(file: Option<&Path>) -> io::Result<Self> {
        let mut roots = RootCertStore {
            roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
        };
        if let Some(file) = file {
            let invalid = |error: &dyn std::fmt::Display| {
                io::Error::new(io::ErrorKind::InvalidData, error.to_string())
            };
            let pem = std::fs::read(file)?;
            let known = roots.len();
            for certificate in CertificateDer::pem_slice_iter(&pem) {
                let certificate = certificate.map_err(|error| invalid(&format!("{error:?}")))?;
                roots.add(certificate).map_err(|error| invalid(&error))?;
            }
            if roots.len() == known {
                return Err(invalid(&"there is no certificate in it"));
            }
        }
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("the provider has what these versions need")
            .with_root_certificates(roots)
            .with_no_client_auth();
        let config = Arc::new(config);
        Ok(Self { config })
    }
}

/// A WebSocket on which the server has accepted the key of the pod with this seed.
pub(super) async fn connect(
    dial: &Dial,
    trust: &Trust,
    seed: u64,
) -> Result<WebSocketStream<BoxedStream>, DialError> {
    let connecting = timeout(CONNECT_TIMEOUT, open(dial, trust));
    let mut stream = connecting
        .await
        .map_err(|_| DialError::Timeout("connect"))??;
    let Dial {
        host,
        port,
        device_id,
        ..
    } = dial;
    let ask = format!(
        "POST /api/benchpod/devices/{device_id}/challenge HTTP/1.1\r\nHost: {host}:{port}\r\n\
         Connection: keep-alive\r\nContent-Length: 0\r\n\r\n"
    );
    let asking = async {
        stream.write_all(ask.as_bytes()).await?;
        stream.flush().await?;
        answer::nonce(&mut stream).await
    };
    let nonce = timeout(ANSWER_TIMEOUT, asking).await;
    let nonce = nonce.map_err(|_| DialError::Timeout("challenge"))??;
    let name = host.to_ascii_lowercase();
    let signature = identity::sign_login(seed, Version::V2, &name, &nonce);
    let nonce = login::text(&nonce);
    let url = format!(
        "ws://{host}:{port}/api/benchpod/ws?device_id={device_id}&nonce={nonce}&signature={signature}&auth=v2"
    );
    let config = WebSocketConfig::default()
        .max_message_size(Some(FROM_POD_BYTES_MAX))
        .max_frame_size(Some(FROM_POD_BYTES_MAX));
    let upgrading = tokio_tungstenite::client_async_with_config(url, stream, Some(config));
    match timeout(ANSWER_TIMEOUT, upgrading).await {
        Err(_) => Err(DialError::Timeout("upgrade")),
        Ok(Ok((socket, _))) => Ok(socket),
        Ok(Err(Error::Http(answer))) => Err(DialError::Refused {
            step: "upgrade",
            status: answer.status().as_u16(),
        }),
        Ok(Err(Error::Io(error))) => Err(error.into()),
        Ok(Err(_)) => Err(DialError::Answer("the server does not switch to WebSocket")),
    }
}

async fn open(dial: &Dial, trust: &Trust) -> io::Result<BoxedStream> {
    let stream = TcpStream::connect((dial.host.as_str(), dial.port)).await?;
    stream.set_nodelay(true)?;
    if !dial.tls {
        return Ok(Box::new(stream));
    }
    let name = ServerName::try_from(dial.host.clone());
    let name = name.map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
    let stream = TlsConnector::from(trust.config.clone())
        .connect(name, stream)
        .await?;
    Ok(Box::new(stream))
}

#[cfg(test)]
mod tests;
