//! A probe behind TCP, framed as OpenOCD's backend `tcp` for CMSIS-DAP does it: `DAP` and a zero, the length in two
//! bytes, the kind (1 request, 2 answer), a zero, and the packet.

use std::io;

use pod_protocol::dap_frame::DAP_PACKET_BYTES_MAX;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Duration, timeout};

/// The port of such probes where none is given.
pub(crate) const PORT_DEFAULT: u16 = 4441;

const SIGNATURE: [u8; 4] = *b"DAP\0";
const HEADER_BYTES: usize = 8;
const REQUEST: u8 = 1;
const ANSWER: u8 = 2;

/// Bytes read at once: a few packets.
const READ_BYTES: usize = 4 * DAP_PACKET_BYTES_MAX;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// A probe behind TCP.
#[derive(Debug)]
pub(super) struct Tcp {
    stream: TcpStream,
    received: Vec<u8>,
}

impl Tcp {
    pub(super) async fn open(address: &str) -> io::Result<Self> {
        let connecting = timeout(CONNECT_TIMEOUT, TcpStream::connect(address)).await;
        let connected = connecting.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
        let stream = connected.map_err(|error| {
            let told = format!("cannot connect to the probe at {address}: {error}");
            io::Error::new(error.kind(), told)
        })?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            received: Vec::new(),
        })
    }

    /// Whether the connection still stands. Nothing may arrive unasked.
    pub(super) fn look(&self) -> io::Result<()> {
        match self.stream.try_read(&mut [0]) {
            Ok(0) => Err(closed()),
            Ok(_) => Err(io::Error::other("it sent what nobody asked for")),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(error),
        }
    }

    pub(super) async fn send(&mut self, packet: &[u8]) -> io::Result<()> {
        let length = u16::try_from(packet.len()).map_err(io::Error::other)?;
        let mut bytes = Vec::with_capacity(HEADER_BYTES + packet.len());
        bytes.extend(SIGNATURE);
        bytes.extend(length.to_le_bytes());
        bytes.extend([REQUEST, 0]);
        bytes.extend(packet);
        self.stream.write_all(&bytes).await
    }

    pub(super) async fn receive(&mut self) -> io::Result<Vec<u8>> {
        loop {
            if let Some(packet) = next(&mut self.received)? {
                return Ok(packet);
            }
            self.received.reserve(READ_BYTES);
            if self.stream.read_buf(&mut self.received).await? == 0 {
                return Err(closed());
            }
        }
    }
}

fn closed() -> io::Error {
    io::Error::other("it closed its connection")
}

/// Takes the next answer; none until more bytes are here.
fn next(received: &mut Vec<u8>) -> io::Result<Option<Vec<u8>>> {
    let wrong =
        |what: &str| io::Error::other(format!("it does not speak CMSIS-DAP over TCP: {what}"));
    let known = received.len().min(SIGNATURE.len());
    if received[..known] != SIGNATURE[..known] {
        return Err(wrong("an answer does not begin with `DAP`"));
    }
    let Some((header, rest)) = received.split_first_chunk::<HEADER_BYTES>() else {
        return Ok(None);
    };
    let [.., low, high, kind, _] = *header;
    if kind != ANSWER {
        return Err(wrong(&format!("it sent a packet of kind {kind}")));
    }
    let bytes = usize::from(u16::from_le_bytes([low, high]));
    if !(1..=DAP_PACKET_BYTES_MAX).contains(&bytes) {
        return Err(wrong(&format!("an answer of {bytes} bytes")));
    }
    let Some(packet) = rest.get(..bytes).map(<[u8]>::to_vec) else {
        return Ok(None);
    };
    received.drain(..HEADER_BYTES + bytes);
    Ok(Some(packet))
}

/// Any bytes as answers: packets within bounds, then perhaps an error.
///
/// # Panics
/// If a packet is out of bounds.
pub(super) fn fuzz(bytes: &[u8]) {
    let mut received = Vec::new();
    for part in bytes.chunks(7) {
        received.extend(part);
        while let Ok(Some(packet)) = next(&mut received) {
            assert!((1..=DAP_PACKET_BYTES_MAX).contains(&packet.len()));
        }
    }
}
