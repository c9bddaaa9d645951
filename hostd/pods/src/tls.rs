//! Pods on the network over TLS, each trusted by the fingerprint of its certificate.
//!
//! A pod makes its certificate itself. With a fingerprint in the address, only that certificate is
//! accepted; without one, the first certificate seen is accepted as long as the transport lives, and
//! [`certificate_pin`](Transport::certificate_pin) returns it. TLS sessions are resumed if the pod
//! offers it, since a full handshake keeps a small processor busy for half a second.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rustls::ClientConfig;
use rustls::crypto::ring;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tracing::info;

mod pin;

pub use pin::{Fingerprint, PinMismatch};

use pin::Pin;
use pod_protocol::connection::{BoxedStream, Connecting, Stream, TLS_PORT, Transport};
use pod_protocol::driver::AddressError;

/// How long connecting and the handshake may take, each.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

const ADDRESS_FORM: &str = "host[:port][,sha256=<64 hex digits>]";

/// A pod at a network address, behind TLS.
pub(crate) struct TlsTransport {
    host: String,
    port: u16,
    name: ServerName<'static>,
    pin: Arc<Pin>,
    config: Arc<ClientConfig>,
}

impl TlsTransport {
    /// A pod at `host:port`, `[v6]:port`, or `host` on [`TLS_PORT`], trusted by its certificate:
    /// this one, or the first it shows. `None` if the address is malformed.
    pub(crate) fn new(address: &str, pinned: Option<Fingerprint>) -> Option<Self> {
        let (host, port) = split(address)?;
        let name = ServerName::try_from(host.to_owned()).ok()?;
        let pin = Arc::new(Pin::new(pinned));
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("the provider has what these versions need")
            .dangerous()
            .with_custom_certificate_verifier(pin.clone())
            .with_no_client_auth();
        Some(Self {
            host: host.to_owned(),
            port,
            name,
            pin,
            config: Arc::new(config),
        })
    }

    /// Performs the handshake over an open connection.
    ///
    /// # Errors
    /// The connection's error, or a [`PinMismatch`] inside the [`io::Error`].
    async fn handshake(&self, stream: impl Stream + 'static) -> io::Result<BoxedStream> {
        let connector = TlsConnector::from(self.config.clone());
        let connecting = connector.connect(self.name.clone(), stream);
        let stream = tokio::time::timeout(CONNECT_TIMEOUT, connecting)
            .await
            .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
            .map_err(plainly)?;
        let (_, session) = stream.get_ref();
        let shown = session.peer_certificates().and_then(<[_]>::first);
        let found = Fingerprint::of(shown.ok_or(io::ErrorKind::InvalidData)?);
        if self.pin.learn(found).map_err(io::Error::other)? {
            info!(host = self.host, port = self.port, sha256 = %found, "pinned the certificate of a pod");
        }
        Ok(Box::new(stream))
    }
}

/// Host and port of an address.
fn split(address: &str) -> Option<(&str, u16)> {
    let (host, port) = if let Some(bracketed) = address.strip_prefix('[') {
        let (host, rest) = bracketed.split_once(']')?;
        match rest {
            "" => (host, None),
            rest => (host, Some(rest.strip_prefix(':')?)),
        }
    } else {
        match address.split_once(':') {
            None => (address, None),
            Some((host, port)) => (host, Some(port)),
        }
    };
    let port = port.map_or(Ok(TLS_PORT), str::parse).ok()?;
    (port != 0).then_some((host, port))
}

/// Unwraps the error of a refused certificate from that of the handshake.
fn plainly(error: io::Error) -> io::Error {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
    if let Some(rustls::Error::InvalidCertificate(rustls::CertificateError::Other(other))) = inner
        && let Some(mismatch) = other.0.downcast_ref::<PinMismatch>()
    {
        return io::Error::new(io::ErrorKind::InvalidData, *mismatch);
    }
    error
}

impl Transport for TlsTransport {
    fn kind(&self) -> &'static str {
        "tls"
    }

    fn certificate_pin(&self) -> Option<String> {
        self.pin.known().map(|pin| pin.to_string())
    }

    fn connect(&self) -> Connecting<'_> {
        Box::pin(async move {
            let attempt = TcpStream::connect((self.host.as_str(), self.port));
            let stream = tokio::time::timeout(CONNECT_TIMEOUT, attempt)
                .await
                .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
            // A command is one small segment and waits for its answer.
            stream.set_nodelay(true)?;
            self.handshake(stream).await
        })
    }
}

/// `tls:host[:port][,sha256=<hex>]`.
pub struct Driver;

impl pod_protocol::driver::Driver for Driver {
    fn scheme(&self) -> &'static str {
        "tls"
    }

    fn address_form(&self) -> &'static str {
        ADDRESS_FORM
    }

    fn transport(&self, address: &str) -> Result<Arc<dyn Transport>, AddressError> {
        let transport = match address.split_once(",sha256=") {
            None => TlsTransport::new(address, None),
            Some((address, digits)) => Fingerprint::from_hex(digits)
                .and_then(|pinned| TlsTransport::new(address, Some(pinned))),
        };
        let transport = transport.ok_or_else(|| AddressError::Malformed {
            address: address.to_owned(),
            form: ADDRESS_FORM,
        })?;
        Ok(Arc::new(transport))
    }
}

#[cfg(test)]
mod tests;
