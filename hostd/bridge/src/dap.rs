//! A debug probe behind TCP, as the backend `tcp` of OpenOCD's driver `cmsis-dap` wants it.
//!
//! ```text
//! 44 41 50 00 | 02 00 | 01 | 00 | 00 FE       request of 2 bytes
//! 44 41 50 00 | 03 00 | 02 | 00 | 00 01 04    its answer of 3 bytes
//! signature     length  kind  0    packet
//! ```
//!
//! A pod has the same packets with a length alone before each. There is one answer for each request, in the same
//! order, so that nothing else needs to be remembered of them.

use std::collections::VecDeque;
use std::time::Duration;

use pod_protocol::dap_frame::{self, DAP_PACKET_BYTES_MAX, DapFrameError, DapFrames};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, sleep_until};

#[cfg(test)]
mod tests;

/// The port that OpenOCD uses if none is named.
pub const PORT_DEFAULT: u16 = 4441;

const SIGNATURE: [u8; 4] = *b"DAP\0";
const HEADER_BYTES: usize = 8;
const REQUEST: u8 = 1;
const ANSWER: u8 = 2;

/// Packets that may wait for their answers. OpenOCD sends as many ahead as the probe says, which is 4 at most; no
/// more than these are taken from a client that goes beyond.
const IN_FLIGHT_MAX: usize = 16;

/// Bytes read at once: a few packets.
const READ_BYTES: usize = 4 * DAP_PACKET_BYTES_MAX;

/// After so long without a packet one is sent that changes nothing, since a debug session that nobody uses ends.
const KEEP_EVERY: Duration = Duration::from_secs(45);

/// `DAP_Info`: how many packets may be in flight.
const KEEP_PACKET: [u8; 2] = [0x00, 0xfe];

/// Why a client or a probe cannot be understood.
#[derive(Debug, thiserror::Error)]
pub enum DapError {
    /// The header does not begin as it must.
    #[error("the client does not speak CMSIS-DAP over TCP: a packet does not begin with `DAP`")]
    Signature,
    /// The client sent what is no request.
    #[error("the client sent a packet of kind {kind} where only requests (1) can be")]
    Kind {
        /// What it was.
        kind: u8,
    },
    /// The length is out of bounds.
    #[error(transparent)]
    Length(#[from] DapFrameError),
    /// The probe answered what was not asked.
    #[error("the probe sent an answer without a request")]
    Unasked,
    /// One of the connections failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// Extracts requests from bytes that arrive split anywhere.
#[derive(Debug, Default)]
pub struct Requests {
    buffer: Vec<u8>,
}

impl Requests {
    /// Adds received bytes. Callers take out what is there before they add more.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend(bytes);
    }

    /// The next packet; `None` until more bytes are here.
    ///
    /// # Errors
    /// [`DapError`], when this is no request. The bytes after it mean nothing, so it cannot continue.
    pub fn next_packet(&mut self) -> Result<Option<Vec<u8>>, DapError> {
        let known = self.buffer.len().min(SIGNATURE.len());
        if self.buffer[..known] != SIGNATURE[..known] {
            return Err(DapError::Signature);
        }
        let Some((header, rest)) = self.buffer.split_first_chunk::<HEADER_BYTES>() else {
            return Ok(None);
        };
        let [.., low, high, kind, _] = *header;
        if kind != REQUEST {
            return Err(DapError::Kind { kind });
        }
        let bytes = usize::from(u16::from_le_bytes([low, high]));
        if !(1..=DAP_PACKET_BYTES_MAX).contains(&bytes) {
            return Err(DapFrameError::Length { bytes }.into());
        }
        let Some(packet) = rest.get(..bytes).map(<[u8]>::to_vec) else {
            return Ok(None);
        };
        self.buffer.drain(..HEADER_BYTES + bytes);
        Ok(Some(packet))
    }
}

/// An answer with its header.
#[must_use]
pub fn answer(packet: &[u8]) -> Vec<u8> {
    let length = u16::try_from(packet.len()).expect("a pod's packet is short");
    let mut bytes = Vec::with_capacity(HEADER_BYTES + packet.len());
    bytes.extend(SIGNATURE);
    bytes.extend(length.to_le_bytes());
    bytes.extend([ANSWER, 0]);
    bytes.extend(packet);
    bytes
}

/// Whom the answer to a packet is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asker {
    Client,
    /// It only kept the session alive.
    Nobody,
}

/// Carries packets between a client and a pod's debug session until either ends.
///
/// # Errors
/// [`DapError`], when one of them sends what cannot be understood.
pub async fn serve(
    client: impl AsyncRead + AsyncWrite,
    pod: impl AsyncRead + AsyncWrite,
) -> Result<(), DapError> {
    let (mut from_client, mut to_client) = tokio::io::split(client);
    let (mut from_pod, mut to_pod) = tokio::io::split(pod);
    let mut requests = Requests::default();
    let mut frames = DapFrames::default();
    let mut asked = VecDeque::new();
    let mut said = vec![0; READ_BYTES];
    let mut answered = vec![0; READ_BYTES];
    let mut last = Instant::now();
    loop {
        while asked.len() < IN_FLIGHT_MAX
            && let Some(packet) = requests.next_packet()?
        {
            to_pod.write_all(&dap_frame::encode(&packet)?).await?;
            to_pod.flush().await?;
            asked.push_back(Asker::Client);
            last = Instant::now();
        }
        tokio::select! {
            count = from_client.read(&mut said), if asked.len() < IN_FLIGHT_MAX => match count? {
                0 => return Ok(()),
                count => requests.push(&said[..count]),
            },
            count = from_pod.read(&mut answered) => {
                let count = count?;
                if count == 0 {
                    return Ok(());
                }
                frames.push(&answered[..count]);
                while let Some(packet) = frames.next_packet()? {
                    match asked.pop_front() {
                        Some(Asker::Client) => to_client.write_all(&answer(&packet)).await?,
                        Some(Asker::Nobody) => {}
                        None => return Err(DapError::Unasked),
                    }
                }
                to_client.flush().await?;
            }
            () = sleep_until(last + KEEP_EVERY) => {
                if asked.is_empty() {
                    to_pod.write_all(&dap_frame::encode(&KEEP_PACKET)?).await?;
                    to_pod.flush().await?;
                    asked.push_back(Asker::Nobody);
                }
                last = Instant::now();
            }
        }
    }
}
