//! How a pod is reached: a transport that opens connections, and lines over each of them.
//!
//! Everything above this file is the same for a simulated pod, a network pod and a USB pod.

use std::future::Future;
use std::io;
use std::pin::Pin;

use tokio::io::{AsyncRead, AsyncWrite};

pub mod lines;

/// TCP port on which pods listen.
pub const TCP_PORT: u16 = 8080;

/// TCP port on which pods listen for TLS.
pub const TLS_PORT: u16 = 8443;

/// Connections a pod serves at once on the network.
pub const LAN_CONNECTIONS_MAX: usize = 5;

/// One connection to a pod: bytes both ways.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// A connection of any transport.
pub type BoxedStream = Box<dyn Stream>;

/// A connection being opened.
pub type Connecting<'a> = Pin<Box<dyn Future<Output = io::Result<BoxedStream>> + Send + 'a>>;

/// A pod, or a change of it, being waited for.
pub type Arriving<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Opens connections to one pod. Several may be open at once.
pub trait Transport: Send + Sync + 'static {
    /// Which kind of transport this is, as device records show it: `dial`, `parts`, `sim`, `tcp`, `tls`, `usb`.
    fn kind(&self) -> &'static str;

    /// SHA-256 in hex of the certificate that the pod must show: given with its address, or taken
    /// from the first connection. `None` before that, or if there is no certificate.
    fn certificate_pin(&self) -> Option<String> {
        None
    }

    /// Most connections that the pod serves at once over this transport.
    fn connections_max(&self) -> usize {
        LAN_CONNECTIONS_MAX
    }

    /// Opens one more connection.
    fn connect(&self) -> Connecting<'_>;

    /// Opens one more connection for commands that are answered with a single line. Where such commands have a way of
    /// their own, it is that.
    fn connect_commands(&self) -> Connecting<'_> {
        self.connect()
    }

    /// Waits for a sign that the pod has just become reachable, so that connecting is worth it before its pause is
    /// over. Never, where there are no such signs.
    fn arrival(&self) -> Arriving<'_> {
        Box::pin(std::future::pending())
    }

    /// Waits for a sign that what the pod says of itself has changed, so that its status is asked again. Never, where
    /// there are no such signs. A sign that comes while nobody waits is kept.
    fn changed(&self) -> Arriving<'_> {
        Box::pin(std::future::pending())
    }
}
