//! The first frame each way: who speaks, and what it can take.

use std::io;

use bytes::{Buf, BytesMut};

use super::frame::{FRAME_BYTES_MAX, FRAME_BYTES_MIN, HEADER_BYTES, Header, Kind, TRANSFER_BYTES};
use super::link::LinkError;
use super::wires::{Incoming, Outgoing, flush, next, room};

/// Bytes that the host draws for each link. The pod repeats them, so that the host can tell the answer to its greeting
/// from what the pod had still been sending to an earlier one.
pub const NONCE_BYTES: usize = 8;

/// The most connections at once.
pub const CHANNELS_MAX: u16 = 64;

/// The widest window: what one side may have to keep of a connection.
pub const WINDOW_BYTES_MAX: u32 = 16 * 1024 * 1024;

/// How a greeting begins.
const MAGIC: [u8; 4] = *b"POD\x01";

/// Bytes of a greeting after its header: the magic, channels (16 bits), zero (16 bits), longest frame (32 bits), window
/// (32 bits), nonce.
const GREETING_BYTES: usize = 16 + NONCE_BYTES;

/// Bytes of an earlier link that the host skips until it finds the answer to its greeting.
const SKIPPED_BYTES_MAX: usize = 1024 * 1024;

/// What one side can take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// Connections at once, 1 to [`CHANNELS_MAX`]. The pod's number counts.
    pub channels: u16,
    /// The longest frame that it takes, in bytes without the header: [`FRAME_BYTES_MIN`] to [`FRAME_BYTES_MAX`].
    pub frame_bytes: u32,
    /// Bytes of a new connection that may be sent to it before it has said that it took some: [`FRAME_BYTES_MIN`] to
    /// [`WINDOW_BYTES_MAX`].
    pub window_bytes: u32,
}

impl Terms {
    /// What a host takes, to which memory is cheap. A window of two megabytes is granted again by halves, one of
    /// which is more than what is under way, and keeps a link of 480 Mbit/s busy for 20 ms.
    pub const HOST: Self = Self {
        channels: CHANNELS_MAX,
        frame_bytes: FRAME_BYTES_MAX,
        window_bytes: 2 * 1024 * 1024,
    };

    /// The most data in a frame to this side: what it takes, and no more than fills a transfer with its header, since a
    /// short rest costs as much as a full transfer.
    pub(super) fn data_max(&self) -> usize {
        (self.frame_bytes as usize).min(TRANSFER_BYTES - HEADER_BYTES)
    }

    fn are_sound(&self) -> bool {
        (1..=CHANNELS_MAX).contains(&self.channels)
            && (FRAME_BYTES_MIN..=FRAME_BYTES_MAX).contains(&self.frame_bytes)
            && (FRAME_BYTES_MIN..=WINDOW_BYTES_MAX).contains(&self.window_bytes)
    }
}

/// A greeting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Greeting {
    /// What its sender can take.
    pub(super) terms: Terms,
    /// The host's nonce.
    pub(super) nonce: [u8; NONCE_BYTES],
}

impl Greeting {
    fn to_frame(self) -> Vec<u8> {
        let header = Header::new(0, Kind::Greeting, GREETING_BYTES);
        let mut frame = header.to_bytes().to_vec();
        frame.extend(MAGIC);
        frame.extend(self.terms.channels.to_le_bytes());
        frame.extend([0; 2]);
        frame.extend(self.terms.frame_bytes.to_le_bytes());
        frame.extend(self.terms.window_bytes.to_le_bytes());
        frame.extend(self.nonce);
        frame
    }

    /// Reads what follows the header.
    fn of(bytes: &[u8; GREETING_BYTES]) -> Option<Self> {
        let mut rest = bytes.strip_prefix(&MAGIC)?;
        let channels = rest.get_u16_le();
        let _reserved = rest.get_u16_le();
        let terms = Terms {
            channels,
            frame_bytes: rest.get_u32_le(),
            window_bytes: rest.get_u32_le(),
        };
        let nonce = rest.try_into().ok()?;
        terms.are_sound().then_some(Self { terms, nonce })
    }

    async fn send(self, writer: &mut impl Outgoing) -> io::Result<()> {
        room(writer).await?;
        writer.send(Box::new(self.to_frame()));
        flush(writer).await
    }

    /// Greets as a host, and waits for the pod's answer. What follows it stays in `buffer`. The caller limits the
    /// time.
    pub(super) async fn offer(
        self,
        reader: &mut impl Incoming,
        writer: &mut impl Outgoing,
        buffer: &mut BytesMut,
    ) -> Result<Terms, LinkError> {
        self.send(writer).await?;
        let mut skipped = 0;
        loop {
            if let Some(answer) = Self::first_in(buffer) {
                if answer.nonce == self.nonce {
                    buffer.advance(HEADER_BYTES + GREETING_BYTES);
                    return Ok(answer.terms);
                }
                buffer.advance(1);
                skipped += 1;
            } else if HEADER_BYTES + GREETING_BYTES <= buffer.len() {
                buffer.advance(1);
                skipped += 1;
            } else {
                read_more(reader, buffer).await?;
            }
            if SKIPPED_BYTES_MAX < skipped {
                return Err(LinkError::NoGreeting);
            }
        }
    }

    /// Waits for a host's greeting as the first frame, and answers with what this pod can take.
    pub(super) async fn answer(
        terms: Terms,
        reader: &mut impl Incoming,
        writer: &mut impl Outgoing,
        buffer: &mut BytesMut,
    ) -> Result<Terms, LinkError> {
        while buffer.len() < HEADER_BYTES + GREETING_BYTES {
            read_more(reader, buffer).await?;
        }
        let host = Self::first_in(buffer).ok_or(LinkError::NoGreeting)?;
        buffer.advance(HEADER_BYTES + GREETING_BYTES);
        let nonce = host.nonce;
        Self { terms, nonce }.send(writer).await?;
        Ok(host.terms)
    }

    /// The greeting that the bytes begin with.
    fn first_in(bytes: &[u8]) -> Option<Self> {
        let (header, rest) = bytes.split_first_chunk::<HEADER_BYTES>()?;
        let header = Header::of(*header, FRAME_BYTES_MAX).ok()?;
        let is_greeting = header == Header::new(0, Kind::Greeting, GREETING_BYTES);
        Self::of(rest.first_chunk().filter(|_| is_greeting)?)
    }
}

async fn read_more(reader: &mut impl Incoming, buffer: &mut BytesMut) -> Result<(), LinkError> {
    buffer.extend_from_slice(&next(reader).await?);
    Ok(())
}
