//! What goes next over a link: frames of all connections, put together to transfers.

use std::collections::VecDeque;

use super::frame::{FRAME_BYTES_MIN, Header, Kind, TRANSFER_BYTES};
use super::outbox::MUCH_BYTES;
use super::shared::Shared;
use super::wires::Transfer;

/// Transfers in order. Frames are added to the last one as long as they fit.
#[derive(Debug, Default)]
pub(super) struct Parcels(VecDeque<Transfer>);

impl Parcels {
    /// Adds the frames of the next turn. Whether there was one.
    pub(super) fn take_turn(&mut self, shared: &Shared) -> bool {
        let mut heads = Vec::new();
        let Some(data) = shared.turn(&mut heads) else {
            return false;
        };
        if !heads.is_empty() {
            self.put(heads);
        }
        if let Some(frame) = data {
            match self.last_with_place(frame.bytes().len()) {
                Some(last) => {
                    last.put(frame.bytes());
                    shared.give_back(frame);
                }
                None => self.0.push_back(frame),
            }
        }
        true
    }

    /// Says that this side is still there.
    pub(super) fn put_alive(&mut self) {
        self.put(Header::new(0, Kind::Alive, 0).to_bytes().to_vec());
    }

    /// Whether the first one should go without waiting for more frames.
    pub(super) fn is_due(&self) -> bool {
        let first = self.0.front().map_or(0, |first| first.bytes().len());
        MUCH_BYTES <= first || 1 < self.0.len()
    }

    /// Whether more frames may go along with the first one.
    pub(super) fn has_place(&self) -> bool {
        let first = self.0.front().map_or(0, |first| first.bytes().len());
        self.0.len() == 1 && first + FRAME_BYTES_MIN as usize <= TRANSFER_BYTES
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first one, to be sent.
    pub(super) fn pop(&mut self) -> Option<Transfer> {
        self.0.pop_front()
    }

    fn put(&mut self, frames: Vec<u8>) {
        match self.last_with_place(frames.len()) {
            Some(last) => last.put(&frames),
            None => self.0.push_back(Box::new(frames)),
        }
    }

    fn last_with_place(&mut self, bytes: usize) -> Option<&mut Transfer> {
        let last = self.0.back_mut()?;
        (last.bytes().len() + bytes <= TRANSFER_BYTES).then_some(last)
    }
}
