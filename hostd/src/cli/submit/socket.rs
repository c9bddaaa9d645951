//! The WebSocket on which a server tells a job, read with a short wait so that signals are noticed.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};
use serde_json::Value;
use tokio_tungstenite::tungstenite::handshake::HandshakeError;
use tokio_tungstenite::tungstenite::{self, Message, WebSocket};

use super::server::{CONNECT_WAIT, Failed, Server, upgrade};

/// Between two looks at what else there is to do.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Time for a stream to be granted, and then for its first message, which a server sends at once. What is between here
/// and there may let neither pass.
const OPEN_WAIT: Duration = Duration::from_secs(10);

/// A server that says nothing for so long is gone: it sends a ping every 20 s, or as it is configured.
const SILENCE_MAX: Duration = Duration::from_secs(120);

trait Connection: Read + Write {}
impl<T: Read + Write> Connection for T {}

/// What a server tells.
pub(super) struct Socket {
    socket: WebSocket<Box<dyn Connection>>,
    heard_at: Instant,
    has_heard: bool,
}

/// Why there is no stream.
pub(super) enum Unopened {
    /// Nobody was reached.
    Unreached(Failed),
    /// Somebody was, and granted none: perhaps not the server.
    Barred(Failed),
}

impl Socket {
    /// Opens a stream. `path` begins with `/`, below that of the API.
    ///
    /// # Errors
    /// The server cannot be reached, or there is no stream of it.
    pub(super) fn open(server: &Server, path: &str) -> Result<Self, Unopened> {
        let unreached = |error| Unopened::Unreached(Failed::Lost(error));
        let request = upgrade::request(server, path);
        let request = request.map_err(|error| Unopened::Unreached(Failed::Here(error)))?;
        let (connection, tcp) = connect(server).map_err(unreached)?;
        let barred = |why: String| {
            let error = anyhow::anyhow!("open the job's stream: {why}");
            Unopened::Barred(Failed::Lost(error))
        };
        let socket = match tungstenite::client(request, connection) {
            Ok((socket, _)) => socket,
            Err(HandshakeError::Failure(tungstenite::Error::Http(answer))) => {
                return Err(Unopened::Barred(upgrade::refused(&answer)));
            }
            Err(HandshakeError::Interrupted(_)) => {
                return Err(barred(format!("no answer in {OPEN_WAIT:?}")));
            }
            Err(HandshakeError::Failure(error)) => return Err(barred(error.to_string())),
        };
        let set = tcp.set_read_timeout(Some(LOOK_EVERY));
        set.context("open the job's stream").map_err(unreached)?;
        Ok(Self {
            socket,
            heard_at: Instant::now(),
            has_heard: false,
        })
    }

    /// Whether anything came.
    pub(super) fn has_heard(&self) -> bool {
        self.has_heard
    }

    /// The next message, if one comes soon.
    ///
    /// # Errors
    /// The connection is gone.
    pub(super) fn next(&mut self) -> anyhow::Result<Option<Value>> {
        let message = match self.socket.read() {
            Ok(message) => message,
            Err(tungstenite::Error::Io(error)) if is_pause(&error) => {
                let most = if self.has_heard {
                    SILENCE_MAX
                } else {
                    OPEN_WAIT
                };
                if self.heard_at.elapsed() > most {
                    bail!("hear anything from the server for {most:?}");
                }
                return Ok(None);
            }
            Err(error) => return Err(error).context("follow the job"),
        };
        self.heard_at = Instant::now();
        match message {
            Message::Text(text) => {
                self.has_heard = true;
                let told = serde_json::from_str(&text).context("understand the server")?;
                Ok(Some(told))
            }
            Message::Close(Some(close)) => {
                bail!(
                    "follow the job: the server ended that: {} {}",
                    close.code,
                    close.reason
                )
            }
            _ => Ok(None),
        }
    }
}

fn is_pause(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}

/// The connection, and the TCP connection below it.
fn connect(server: &Server) -> anyhow::Result<(Box<dyn Connection>, TcpStream)> {
    let is_tls = server.uri.scheme_str() == Some("https");
    let (host, port) = upgrade::address(server)?;
    let reach = || format!("reach {}", server.api);
    let mut last = None;
    for address in (host.as_str(), port)
        .to_socket_addrs()
        .with_context(reach)?
    {
        match TcpStream::connect_timeout(&address, CONNECT_WAIT) {
            Ok(tcp) => {
                tcp.set_read_timeout(Some(OPEN_WAIT))?;
                tcp.set_write_timeout(Some(CONNECT_WAIT))?;
                let below = tcp.try_clone()?;
                if !is_tls {
                    return Ok((Box::new(tcp), below));
                }
                let name = ServerName::try_from(host).with_context(reach)?;
                let tls = ClientConnection::new(Arc::new(upgrade::tls(server)?), name)
                    .with_context(reach)?;
                return Ok((Box::new(StreamOwned::new(tls, tcp)), below));
            }
            Err(error) => last = Some(error),
        }
    }
    match last {
        Some(error) => Err(error).with_context(reach),
        None => bail!("{}: it has no address", reach()),
    }
}
