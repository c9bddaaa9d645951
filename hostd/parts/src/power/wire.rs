//! The line to an instrument that speaks SCPI: commands and answers, one line each, within bounds.

use std::io;
use std::time::Duration;

use pod_protocol::connection::lines::{LineError, Lines};
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
    Tcp(Lines<TcpStream>),
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
                Ok(Self::Tcp(Lines::new(stream, ANSWER_BYTES_MAX)))
            }
        }
    }

    /// Sends a command.
    pub(super) async fn tell(&mut self, command: &str) -> io::Result<()> {
        match self {
            Self::Usb(usb) => usb.write(command, WRITE_TIMEOUT).await,
            Self::Tcp(lines) => {
                let writing =
                    timeout(WRITE_TIMEOUT, lines.write(command.as_bytes().to_vec())).await;
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
                match reading
                    .map_err(|_| late("did not answer"))?
                    .map_err(broken)?
                {
                    Some(line) => Ok(String::from_utf8_lossy(line).into_owned()),
                    None => Err(io::Error::other("the supply closed its connection")),
                }
            }
        }
    }
}

fn broken(error: LineError) -> io::Error {
    match error {
        LineError::Io(error) => io::Error::new(
            error.kind(),
            format!("the connection to the supply failed: {error}"),
        ),
        LineError::TooLong { limit } => {
            io::Error::other(format!("the supply's answer exceeds {limit} bytes"))
        }
    }
}

pub(super) fn late(what: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::TimedOut,
        format!("the supply {what} in time"),
    )
}
