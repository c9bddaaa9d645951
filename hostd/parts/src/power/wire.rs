//! The line to an instrument that speaks SCPI: commands and answers, one line each, within bounds.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::usbtmc::Usbtmc;
use crate::address::Address;

/// Port of SCPI over TCP where none is given.
pub(super) const PORT_DEFAULT: u16 = 5025;

/// Longest answer.
pub(super) const ANSWER_BYTES_MAX: usize = 1024;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
const WRITE_TIMEOUT: Duration = Duration::from_secs(2);

/// The slowest of supplies measures for a second.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);

/// A line to an instrument.
pub(super) enum Wire {
    Tcp(Lines),
    Usb(Usbtmc),
}

impl std::fmt::Debug for Wire {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Tcp(_) => "Tcp",
            Self::Usb(_) => "Usb",
        })
    }
}

impl Wire {
    pub(super) async fn open(address: &Address) -> io::Result<Self> {
        match address {
            Address::Usb(id) => Usbtmc::open(id).await.map(Self::Usb),
            Address::Tcp(address) => {
                let connecting = timeout(CONNECT_TIMEOUT, TcpStream::connect(address)).await;
                let connected = connecting.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
                let stream = connected.map_err(|error| {
                    let told = format!("cannot connect to the supply at {address}: {error}");
                    io::Error::new(error.kind(), told)
                })?;
                stream.set_nodelay(true)?;
                Ok(Self::Tcp(Lines::new(stream)))
            }
        }
    }

    /// Sends a command.
    pub(super) async fn tell(&mut self, command: &str) -> io::Result<()> {
        match self {
            Self::Usb(usb) => usb.write(command, WRITE_TIMEOUT).await,
            Self::Tcp(lines) => {
                let writing = timeout(WRITE_TIMEOUT, lines.write(command)).await;
                writing.map_err(|_| late("took nothing"))?.map_err(broken)
            }
        }
    }

    /// The answer to a command that asks.
    pub(super) async fn answer(&mut self) -> io::Result<String> {
        match self {
            Self::Usb(usb) => usb.read(ANSWER_TIMEOUT).await,
            Self::Tcp(lines) => {
                let reading = timeout(ANSWER_TIMEOUT, lines.read()).await;
                reading.map_err(|_| late("did not answer"))?
            }
        }
    }
}

/// Answers of an instrument, one line each. Lines end as instruments end them: with a line feed, a carriage return, both or a
/// zero. Empty ones are none.
pub(super) struct Lines {
    stream: TcpStream,
    received: Vec<u8>,
}

impl Lines {
    fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            received: Vec::new(),
        }
    }

    async fn write(&mut self, line: &str) -> io::Result<()> {
        self.stream.write_all(format!("{line}\n").as_bytes()).await
    }

    async fn read(&mut self) -> io::Result<String> {
        loop {
            if let Some(line) = next_line(&mut self.received) {
                return Ok(line);
            }
            if self.received.len() > ANSWER_BYTES_MAX {
                return Err(io::Error::other(format!(
                    "the supply's answer exceeds {ANSWER_BYTES_MAX} bytes"
                )));
            }
            let mut bytes = [0; ANSWER_BYTES_MAX];
            match self.stream.read(&mut bytes).await.map_err(broken)? {
                0 => return Err(io::Error::other("the supply closed its connection")),
                count => self.received.extend(&bytes[..count]),
            }
        }
    }
}

/// Takes the first line that is whole and not empty from what was received.
fn next_line(received: &mut Vec<u8>) -> Option<String> {
    let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r' | 0);
    while let Some(end) = received.iter().position(is_end) {
        let line: Vec<u8> = received.drain(..=end).collect();
        let line = String::from_utf8_lossy(&line[..end]).trim().to_owned();
        if !line.is_empty() {
            return Some(line);
        }
    }
    None
}

fn broken(error: io::Error) -> io::Error {
    io::Error::new(
        error.kind(),
        format!("the connection to the supply failed: {error}"),
    )
}

pub(super) fn late(what: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::TimedOut,
        format!("the supply {what} in time"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_end_as_instruments_end_them() {
        for end in ["\n", "\r\n", "\n\r", "\r", "\0", "\0\n", "\n\n", " \r\n \n"] {
            let mut received = format!("0  No Error{end}1{end}+3.3").into_bytes();
            let lines: Vec<_> = std::iter::from_fn(|| next_line(&mut received)).collect();
            assert_eq!(lines, ["0  No Error", "1"], "{end:?}");
            assert_eq!(received.trim_ascii(), b"+3.3", "{end:?}");
        }
    }
}
