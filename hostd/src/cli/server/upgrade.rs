//! What it takes to open a WebSocket of a server, however it is then read: request, trust, refusal.

use std::sync::Arc;

use anyhow::Context;
use http::header::AUTHORIZATION;
use http::{Request, Response};
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use super::{Failed, Refusal, Server, retry_after};

/// The request. `path` begins with `/`, below that of the API.
///
/// # Errors
/// It makes no URL.
pub(in super::super) fn request(server: &Server, path: &str) -> anyhow::Result<Request<()>> {
    let url = server.api.replacen("http", "ws", 1) + path;
    let mut request = url.into_client_request().context("make the request")?;
    request
        .headers_mut()
        .insert(AUTHORIZATION, server.key.clone());
    Ok(request)
}

/// What a WebSocket goes over.
pub(in super::super) trait Connection:
    AsyncRead + AsyncWrite + Send + Unpin
{
}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Connection for T {}

/// A connection to the server, secured as its URL says.
///
/// # Errors
/// It cannot be reached, or is not trusted.
pub(in super::super) async fn connect(server: &Server) -> anyhow::Result<Box<dyn Connection>> {
    let reach = || format!("reach {}", server.api);
    let (host, port) = address(server)?;
    let stream = TcpStream::connect((host.as_str(), port))
        .await
        .with_context(reach)?;
    // Debuggers and people wait for each answer.
    stream.set_nodelay(true).with_context(reach)?;
    if server.uri.scheme_str() != Some("https") {
        return Ok(Box::new(stream));
    }
    let name = ServerName::try_from(host).with_context(reach)?;
    let connector = TlsConnector::from(Arc::new(tls(server)?));
    let stream = connector.connect(name, stream).await.with_context(reach)?;
    Ok(Box::new(stream))
}

/// Host and port of the server.
///
/// # Errors
/// The URL has no host.
pub(in super::super) fn address(server: &Server) -> anyhow::Result<(String, u16)> {
    let authority = server.uri.authority().context("a URL with a host")?;
    let is_tls = server.uri.scheme_str() == Some("https");
    let port = authority
        .port_u16()
        .unwrap_or(if is_tls { 443 } else { 80 });
    Ok((authority.host().trim_matches(['[', ']']).to_owned(), port))
}

/// The same trust as that of other requests.
///
/// # Errors
/// A certificate makes no sense.
pub(in super::super) fn tls(server: &Server) -> anyhow::Result<ClientConfig> {
    let mut roots = RootCertStore::empty();
    if server.roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    for root in &server.roots {
        let root = CertificateDer::from(root.der());
        roots.add(root).context("trust a certificate")?;
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .context("set up TLS")?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

/// What a server said instead.
pub(in super::super) fn refused(answer: &Response<Option<Vec<u8>>>) -> Failed {
    let body = answer.body().as_deref().unwrap_or_default();
    Failed::Refused(Refusal {
        status: answer.status(),
        body: serde_json::from_slice(body).unwrap_or_default(),
        retry_after: retry_after(answer.headers()),
    })
}
