//! Pods on the network: one TCP connection each, plaintext, Nagle off.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use pod_protocol::connection::{BoxedStream, Connecting, TCP_PORT, Transport};
use pod_protocol::driver::AddressError;
use tokio::net::TcpStream;

/// How long one attempt to connect may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

const ADDRESS_FORM: &str = "host[:port]";

/// A pod at a network address.
#[derive(Debug, Clone)]
pub(crate) struct TcpTransport {
    address: String,
}

impl TcpTransport {
    /// A pod at `host:port`, `[v6]:port`, or `host` on [`TCP_PORT`].
    pub(crate) fn new(address: &str) -> Self {
        let bracket_end = address.rfind(']').map_or(0, |at| at + 1);
        let has_port = address[bracket_end..].contains(':');
        let address = if has_port {
            address.to_owned()
        } else {
            format!("{address}:{TCP_PORT}")
        };
        Self { address }
    }
}

impl Transport for TcpTransport {
    fn kind(&self) -> &'static str {
        "tcp"
    }

    fn connect(&self) -> Connecting<'_> {
        Box::pin(async move {
            let attempt = TcpStream::connect(&self.address);
            let stream = tokio::time::timeout(CONNECT_TIMEOUT, attempt)
                .await
                .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
            // A command is one small segment and waits for its answer.
            stream.set_nodelay(true)?;
            Ok(Box::new(stream) as BoxedStream)
        })
    }
}

/// `tcp:host[:port]`.
pub struct Driver;

impl pod_protocol::driver::Driver for Driver {
    fn scheme(&self) -> &'static str {
        "tcp"
    }

    fn address_form(&self) -> &'static str {
        ADDRESS_FORM
    }

    fn transport(&self, address: &str) -> Result<Arc<dyn Transport>, AddressError> {
        if address.is_empty() || address.contains(char::is_whitespace) {
            return Err(AddressError::Malformed {
                address: address.to_owned(),
                form: ADDRESS_FORM,
            });
        }
        Ok(Arc::new(TcpTransport::new(address)))
    }
}

#[cfg(test)]
mod tests;
