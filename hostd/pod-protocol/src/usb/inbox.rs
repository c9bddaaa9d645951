//! What has come on a connection and was not read.

use std::collections::VecDeque;

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::ReadBuf;

/// Pieces below this are copied together: a piece keeps the whole transfer that it came in.
const COPIED_BYTES_MAX: usize = 16 * 1024;

/// The pieces in order. The window bounds their bytes.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    pieces: VecDeque<Bytes>,
    /// Comes after them.
    small: BytesMut,
}

impl Inbox {
    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.small.is_empty()
    }

    pub(super) fn push(&mut self, piece: Bytes) {
        if piece.len() < COPIED_BYTES_MAX {
            self.small.extend_from_slice(&piece);
            return;
        }
        if !self.small.is_empty() {
            self.pieces.push_back(self.small.split().freeze());
        }
        self.pieces.push_back(piece);
    }

    /// Moves what there is to a reader; returns how much that was.
    pub(super) fn read(&mut self, into: &mut ReadBuf<'_>) -> usize {
        let room = into.remaining();
        while let Some(piece) = self.pieces.front_mut() {
            move_bytes(piece, into);
            if !piece.is_empty() {
                return room;
            }
            self.pieces.pop_front();
        }
        move_bytes(&mut self.small, into);
        room - into.remaining()
    }
}

fn move_bytes(from: &mut impl Buf, into: &mut ReadBuf<'_>) {
    let count = from.remaining().min(into.remaining());
    into.put_slice(&from.chunk()[..count]);
    from.advance(count);
}
