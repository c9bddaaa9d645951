//! A plain WebSocket client: a refusal is kept as an answer, and the stream is read as bytes.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use tungstenite::client::IntoClientRequest;
use tungstenite::handshake::HandshakeError;
use tungstenite::http::{HeaderName, HeaderValue};
use tungstenite::{Error, Message, WebSocket};

/// Longest wait for the next frame.
const READ_WAIT: Duration = Duration::from_secs(20);

/// An open WebSocket.
#[derive(Debug)]
pub struct Socket {
    socket: WebSocket<TcpStream>,
    /// Bytes that were received and not yet requested.
    unread: Vec<u8>,
}

/// Result of an attempt to open a WebSocket.
#[derive(Debug)]
pub enum Opened {
    Socket(Box<Socket>),
    /// Status and JSON body of a refusal.
    Refused(u16, Value),
}

impl Opened {
    /// # Panics
    /// It was refused.
    #[must_use]
    pub fn socket(self) -> Socket {
        match self {
            Self::Socket(socket) => *socket,
            Self::Refused(status, body) => panic!("refused with {status}: {body}"),
        }
    }

    /// # Panics
    /// It was opened.
    #[must_use]
    pub fn refused(self) -> (u16, Value) {
        match self {
            Self::Refused(status, body) => (status, body),
            Self::Socket(_) => panic!("it was opened"),
        }
    }
}

impl Socket {
    /// Open `path` of the server at `url` (`http://host:port`) with these headers.
    ///
    /// # Errors
    /// Neither a WebSocket nor an answer that refuses it.
    pub fn open(url: &str, path: &str, headers: &[(&str, &str)]) -> Result<Opened> {
        let address = url.strip_prefix("http://").context("an http URL")?;
        let mut request = format!("ws://{address}{path}").into_client_request()?;
        for (name, value) in headers {
            let name = HeaderName::try_from(*name)?;
            request
                .headers_mut()
                .insert(name, HeaderValue::from_str(value)?);
        }
        let stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(READ_WAIT))?;
        stream.set_nodelay(true)?;
        match tungstenite::client(request, stream) {
            Ok((socket, _)) => Ok(Opened::Socket(Box::new(Self {
                socket,
                unread: Vec::new(),
            }))),
            Err(HandshakeError::Failure(Error::Http(response))) => {
                let body = response.body().as_deref().unwrap_or_default();
                let body = serde_json::from_slice(body).context("a JSON refusal")?;
                Ok(Opened::Refused(response.status().as_u16(), body))
            }
            Err(error) => bail!("open {path}: {error}"),
        }
    }

    /// # Errors
    /// The connection is gone.
    pub fn send(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(self.socket.send(Message::Binary(bytes.to_vec().into()))?)
    }

    /// # Errors
    /// The connection is gone.
    pub fn send_text(&mut self, text: &str) -> Result<()> {
        Ok(self.socket.send(Message::Text(text.into()))?)
    }

    /// The next message that is not about the connection itself.
    ///
    /// # Errors
    /// Nothing came in time, or the connection is gone.
    pub fn message(&mut self) -> Result<Message> {
        let began = Instant::now();
        loop {
            match self.socket.read()? {
                // A server sends these for as long as there is nothing else.
                Message::Ping(_) | Message::Pong(_) if began.elapsed() > READ_WAIT => {
                    bail!("no message within {READ_WAIT:?}");
                }
                Message::Ping(_) | Message::Pong(_) => {}
                other => return Ok(other),
            }
        }
    }

    /// Bytes up to and including the first `
    /// `, as JSON.
    ///
    /// # Errors
    /// As [`Socket::message`], or it is not JSON.
    pub fn line(&mut self) -> Result<Value> {
        loop {
            if let Some(end) = self.unread.iter().position(|b| *b == b'\n') {
                let line: Vec<u8> = self.unread.drain(..=end).collect();
                return Ok(serde_json::from_slice(&line)?);
            }
            self.fill()?;
        }
    }

    /// Bytes until `text` is among them.
    ///
    /// # Errors
    /// As [`Socket::message`].
    pub fn until(&mut self, text: &[u8]) -> Result<Vec<u8>> {
        while !self.unread.windows(text.len()).any(|w| w == text) {
            self.fill()?;
        }
        Ok(std::mem::take(&mut self.unread))
    }

    fn fill(&mut self) -> Result<()> {
        match self.message()? {
            Message::Binary(bytes) => self.unread.extend_from_slice(&bytes),
            other => bail!("{other:?} in place of bytes"),
        }
        Ok(())
    }

    /// Read until the server closes: the code and reason of its Close.
    ///
    /// # Errors
    /// The connection ended without one.
    pub fn closed(&mut self) -> Result<(u16, String)> {
        loop {
            if let Message::Close(frame) = self.message()? {
                let frame = frame.context("a Close with a code")?;
                return Ok((frame.code.into(), frame.reason.to_string()));
            }
        }
    }

    /// Close, and wait until the server has answered the Close.
    ///
    /// # Errors
    /// It does not answer in time.
    pub fn close(mut self) -> Result<()> {
        self.socket.close(None)?;
        loop {
            match self.socket.read() {
                Ok(_) => {}
                Err(Error::ConnectionClosed) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }
}
