//! One connection that is kept, for tests and benches that ask as fast as they can: requests are bytes that were made
//! beforehand, and an answer is read with nothing around it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

/// Longest wait for an answer.
const ANSWER_WAIT: Duration = Duration::from_secs(60);

/// Bytes that are read at once.
const PIECE_BYTES: usize = 64 << 10;

/// Largest head of an answer.
const HEAD_BYTES_MAX: usize = 64 << 10;

/// A connection to a server. It is opened anew only when the server has announced its end.
#[derive(Debug)]
pub struct Kept {
    address: String,
    authorization: String,
    stream: TcpStream,
    /// What was read and belongs to the answer that is looked at.
    read: Vec<u8>,
    is_over: bool,
}

/// An answer.
#[derive(Debug, Clone, Copy)]
pub struct Heard<'a> {
    pub status: u16,
    head: &'a str,
    pub body: &'a [u8],
}

impl Kept {
    /// To the server at `url` (`http://host:port`), with this value of `authorization`; empty = none.
    ///
    /// # Errors
    /// It cannot be reached.
    pub fn open(url: &str, authorization: &str) -> Result<Self> {
        let address = url.strip_prefix("http://").context("an http URL")?;
        Ok(Self {
            address: address.to_owned(),
            authorization: authorization.to_owned(),
            stream: connect(address)?,
            read: Vec::with_capacity(PIECE_BYTES),
            is_over: false,
        })
    }

    /// The bytes of a request without a body.
    #[must_use]
    pub fn request(&self, method: &str, path: &str) -> Vec<u8> {
        self.head(method, path, None).into_bytes()
    }

    /// The head of a request with a body of this many bytes.
    #[must_use]
    pub fn head_with_body(&self, method: &str, path: &str, bytes: usize) -> Vec<u8> {
        self.head(method, path, Some(bytes)).into_bytes()
    }

    fn head(&self, method: &str, path: &str, body: Option<usize>) -> String {
        let mut head = format!("{method} {path} HTTP/1.1\r\nhost: {}\r\n", self.address);
        if !self.authorization.is_empty() {
            head += &format!("authorization: {}\r\n", self.authorization);
        }
        if let Some(bytes) = body {
            head +=
                &format!("content-type: application/octet-stream\r\ncontent-length: {bytes}\r\n");
        }
        head + "\r\n"
    }

    /// Send a request and read the whole answer.
    ///
    /// # Errors
    /// There is no answer, or not a whole one.
    pub fn ask(&mut self, request: &[u8]) -> Result<Heard<'_>> {
        self.send(request)?;
        self.hear()
    }

    /// Send a part of a request.
    ///
    /// # Errors
    /// The connection is gone.
    pub fn send(&mut self, bytes: &[u8]) -> Result<()> {
        if std::mem::take(&mut self.is_over) {
            self.stream = connect(&self.address)?;
        }
        self.stream.write_all(bytes).context("send a request")
    }

    /// The answer to what was sent.
    ///
    /// # Errors
    /// There is none, or not a whole one.
    pub fn hear(&mut self) -> Result<Heard<'_>> {
        self.read.clear();
        let head = loop {
            let from = self.read.len().saturating_sub(3);
            self.fill()?;
            let mut windows = self.read[from..].windows(4);
            if let Some(at) = windows.position(|w| w == b"\r\n\r\n") {
                break from + at;
            }
            ensure!(self.read.len() < HEAD_BYTES_MAX, "an endless head");
        };
        let text = std::str::from_utf8(&self.read[..head]).context("a head of text")?;
        let status = text.get(9..12).and_then(|status| status.parse().ok());
        let status: u16 = status.context("a status")?;
        let length = field(text, "content-length");
        let length: usize = match (length, status) {
            (Some(length), _) => length.parse().context("a length")?,
            (None, 204 | 304) => 0,
            (None, _) => bail!("an answer without a length: {text}"),
        };
        self.is_over = field(text, "connection").is_some_and(|value| value == "close");
        let body = head + 4;
        while self.read.len() < body + length {
            self.fill()?;
        }
        ensure!(self.read.len() == body + length, "more than an answer");
        Ok(Heard {
            status,
            head: std::str::from_utf8(&self.read[..head]).context("a head of text")?,
            body: &self.read[body..],
        })
    }

    fn fill(&mut self) -> Result<()> {
        let had = self.read.len();
        self.read.resize(had + PIECE_BYTES, 0);
        let count = self.stream.read(&mut self.read[had..]);
        let count = count.context("wait for an answer")?;
        self.read.truncate(had + count);
        ensure!(
            count > 0,
            "the server closed the connection without an answer"
        );
        Ok(())
    }
}

impl Heard<'_> {
    /// The first value of a header, whose name is in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        field(self.head, name)
    }

    /// The body as text, with replacement characters where it is none.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(self.body).into_owned()
    }
}

fn field<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let fields = head.split("\r\n").skip(1);
    let mut named = fields.filter_map(|line| line.split_once(": "));
    named.find_map(|(key, value)| key.eq_ignore_ascii_case(name).then_some(value))
}

fn connect(address: &str) -> Result<TcpStream> {
    let stream = TcpStream::connect(address).context("connect to the server")?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(ANSWER_WAIT))?;
    Ok(stream)
}
