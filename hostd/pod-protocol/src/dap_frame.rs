//! Frames of a debug-probe session: after `dap_start`, each CMSIS-DAP packet is preceded by its
//! length.
//!
//! ```text
//! 02 00 | 00 FE          request of 2 bytes: packet count?
//! 03 00 | 00 01 04       answer of 3 bytes: four
//! ```
//!
//! The length is a little-endian u16 of 1 to [`DAP_PACKET_BYTES_MAX`]. Zero, or a larger number,
//! would make the pod end the session.

use std::time::Duration;

/// Largest packet.
pub const DAP_PACKET_BYTES_MAX: usize = 1024;

/// A session in which nothing was sent for so long is ended by the pod. Debuggers ask every second or so while they wait.
pub const DAP_SILENCE_MAX: Duration = Duration::from_mins(10);

/// Bytes in front of a packet.
const LENGTH_BYTES: usize = 2;

/// Why bytes are not a frame.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DapFrameError {
    /// The length is out of bounds.
    #[error("a packet of {bytes} bytes is outside 1 to {DAP_PACKET_BYTES_MAX}")]
    Length {
        /// What it was.
        bytes: usize,
    },
}

/// The frame around a packet.
///
/// # Errors
/// [`DapFrameError::Length`] when the packet is empty or too long.
pub fn encode(packet: &[u8]) -> Result<Vec<u8>, DapFrameError> {
    let bytes = packet.len();
    let length = u16::try_from(bytes).map_err(|_| DapFrameError::Length { bytes })?;
    check(bytes)?;
    let mut frame = Vec::with_capacity(LENGTH_BYTES + bytes);
    frame.extend(length.to_le_bytes());
    frame.extend(packet);
    Ok(frame)
}

fn check(bytes: usize) -> Result<(), DapFrameError> {
    if (1..=DAP_PACKET_BYTES_MAX).contains(&bytes) {
        Ok(())
    } else {
        Err(DapFrameError::Length { bytes })
    }
}

/// Extracts packets from bytes that arrive split anywhere.
#[derive(Debug, Default)]
pub struct DapFrames {
    buffer: Vec<u8>,
}

impl DapFrames {
    /// Adds received bytes. Callers add at most a few frames before they take them out.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend(bytes);
    }

    /// The next packet; `None` until more bytes are here.
    ///
    /// # Errors
    /// [`DapFrameError::Length`] for a length out of bounds. The bytes after it mean nothing, so it
    /// cannot continue.
    pub fn next_packet(&mut self) -> Result<Option<Vec<u8>>, DapFrameError> {
        let Some((length, rest)) = self.buffer.split_first_chunk::<LENGTH_BYTES>() else {
            return Ok(None);
        };
        let bytes = usize::from(u16::from_le_bytes(*length));
        check(bytes)?;
        let Some(packet) = rest.get(..bytes).map(<[u8]>::to_vec) else {
            return Ok(None);
        };
        self.buffer.drain(..LENGTH_BYTES + bytes);
        Ok(Some(packet))
    }

    /// Whether nothing is waiting.
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }
}

#[cfg(test)]
mod tests;
