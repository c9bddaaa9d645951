//! HTTP/1.1 from a chosen address of this machine: how callers and attackers send requests and read
//! answers. Written by hand, because an attacker stops where a client library would not let it.

use std::io::{Error, ErrorKind, Result};
use std::net::{Ipv4Addr, SocketAddr};

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpSocket, TcpStream};

/// Largest answer that is read, in bytes.
const ANSWER_BYTES_MAX: usize = 16 << 20;

/// One request.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    /// Empty = none.
    pub(crate) authorization: String,
    pub(crate) content_type: &'static str,
    /// Empty = none.
    pub(crate) body: Vec<u8>,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

/// A connection from `from`.
pub(crate) async fn connect(from: Ipv4Addr, to: SocketAddr) -> Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::new(from.into(), 0))?;
    let stream = socket.connect(to).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

impl Ask {
    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self {
            method: "GET",
            path: path.into(),
            authorization: String::new(),
            content_type: "application/json",
            body: Vec::new(),
        }
    }

    pub(crate) fn post(path: impl Into<String>, body: impl ToString) -> Self {
        Self {
            method: "POST",
            body: body.to_string().into_bytes(),
            ..Self::get(path)
        }
    }

    pub(crate) fn delete(path: impl Into<String>) -> Self {
        Self {
            method: "DELETE",
            ..Self::get(path)
        }
    }

    pub(crate) fn with(self, authorization: &str) -> Self {
        Self {
            authorization: authorization.to_owned(),
            ..self
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut text = format!("{} {} HTTP/1.1\r\nhost: hostd\r\n", self.method, self.path);
        if !self.authorization.is_empty() {
            text += &format!("authorization: {}\r\n", self.authorization);
        }
        if !self.body.is_empty() {
            text += &format!("content-type: {}\r\n", self.content_type);
        }
        if !self.body.is_empty() || self.method == "POST" {
            text += &format!("content-length: {}\r\n", self.body.len());
        }
        text += "\r\n";
        let mut bytes = text.into_bytes();
        bytes.extend(&self.body);
        bytes
    }
}

/// Sends requests over one connection for as long as it lasts, then over the next.
#[derive(Debug)]
pub(crate) struct Caller {
    from: Ipv4Addr,
    to: SocketAddr,
    stream: Option<BufReader<TcpStream>>,
}

impl Caller {
    pub(crate) fn new(from: Ipv4Addr, to: SocketAddr) -> Self {
        Self {
            from,
            to,
            stream: None,
        }
    }

    /// The next request goes over a new connection.
    pub(crate) fn hang_up(&mut self) {
        self.stream = None;
    }

    /// Send a request, and read the whole answer. A kept connection that turns out to be closed is
    /// replaced, as every client does.
    pub(crate) async fn ask(&mut self, ask: &Ask) -> Result<Answer> {
        if let Some(stream) = self.stream.take()
            && let Some(answered) = self.ask_over(stream, ask).await?
        {
            return Ok(answered);
        }
        let stream = BufReader::new(connect(self.from, self.to).await?);
        let answered = self.ask_over(stream, ask).await?;
        answered.ok_or_else(|| ErrorKind::ConnectionAborted.into())
    }

    /// None when the connection ended before a byte of an answer.
    async fn ask_over(
        &mut self,
        mut stream: BufReader<TcpStream>,
        ask: &Ask,
    ) -> Result<Option<Answer>> {
        // The answer of a server that closes before it has read everything is still read.
        let sent = stream.write_all(&ask.bytes()).await;
        match stream.fill_buf().await {
            Ok([]) => return Ok(None),
            Ok(_) => {}
            Err(e) if was_closed(&e) => return Ok(None),
            Err(e) => return Err(e),
        }
        let (answer, lasts) = read_answer(&mut stream).await?;
        if lasts && sent.is_ok() {
            self.stream = Some(stream);
        }
        Ok(Some(answer))
    }
}

fn was_closed(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe
    )
}

/// Read one answer, and whether the connection may be used again.
pub(crate) async fn read_answer<R: AsyncRead + Unpin>(
    stream: &mut BufReader<R>,
) -> Result<(Answer, bool)> {
    let first = line(stream).await?;
    let status = first.split(' ').nth(1).and_then(|word| word.parse().ok());
    let status: u16 = status.ok_or(ErrorKind::InvalidData)?;
    let (mut length, mut chunked, mut lasts) = (None, false, true);
    loop {
        let field = line(stream).await?.to_ascii_lowercase();
        match field.split_once(": ") {
            None if field.is_empty() => break,
            Some(("content-length", value)) => length = value.parse().ok(),
            Some(("transfer-encoding", _)) => chunked = true,
            Some(("connection", value)) => lasts = value != "close",
            _ => {}
        }
    }
    let mut body = Vec::new();
    if chunked {
        while read_chunk(stream, &mut body).await? {}
    } else if let Some(length) = length {
        take(stream, length, &mut body).await?;
    }
    Ok((Answer { status, body }, lasts))
}

/// Append a chunk; false if it was the last one.
async fn read_chunk<R: AsyncRead + Unpin>(
    stream: &mut BufReader<R>,
    body: &mut Vec<u8>,
) -> Result<bool> {
    let size = line(stream).await?;
    let size = usize::from_str_radix(size.trim(), 16).map_err(|_| ErrorKind::InvalidData)?;
    take(stream, size, body).await?;
    line(stream).await?;
    Ok(size > 0)
}

async fn take<R: AsyncRead + Unpin>(
    stream: &mut BufReader<R>,
    size: usize,
    body: &mut Vec<u8>,
) -> Result<()> {
    let start = body.len();
    if start + size > ANSWER_BYTES_MAX {
        return Err(ErrorKind::FileTooLarge.into());
    }
    body.resize(start + size, 0);
    stream.read_exact(&mut body[start..]).await.map(drop)
}

async fn line<R: AsyncRead + Unpin>(stream: &mut BufReader<R>) -> Result<String> {
    let mut line = String::new();
    let read = stream
        .take(ANSWER_BYTES_MAX as u64)
        .read_line(&mut line)
        .await?;
    if read == 0 {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    line.truncate(line.trim_end().len());
    Ok(line)
}
