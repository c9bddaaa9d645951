//! What was written to a connection and is to go: frames of data whose headers are missing, so that a frame is sent as
//! it stands.

use std::collections::VecDeque;

use super::frame::{HEADER_BYTES, Header, Kind, TRANSFER_BYTES};
use super::wires::Transfer;

/// Full frames that wait, of each connection.
const FRAMES_MAX: usize = 2;

/// A write of so many bytes is worth room of its own to be sent from, and a transfer of so many does not wait for more.
pub(super) const MUCH_BYTES: usize = 16 * 1024;

const _: () = assert!(MUCH_BYTES < TRANSFER_BYTES);

#[derive(Debug)]
pub(super) struct Outbox {
    frames: VecDeque<Transfer>,
    /// Bytes of data in all of them.
    bytes: usize,
    /// The most data of a frame.
    data_max: usize,
    /// The last write did not fit, so the next one begins with its rest.
    was_cut: bool,
}

impl Outbox {
    pub(super) fn new(data_max: usize) -> Self {
        Self {
            frames: VecDeque::new(),
            bytes: 0,
            data_max,
            was_cut: false,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    pub(super) fn clear(&mut self) {
        self.frames.clear();
        self.bytes = 0;
    }

    /// Takes as many of the bytes as there is room for. A frame of a large write, which may be sent whole, is written where
    /// it is sent from if `free` has some room there.
    pub(super) fn write(
        &mut self,
        bytes: &[u8],
        credit: usize,
        mut free: impl FnMut() -> Option<Transfer>,
    ) -> usize {
        let count = bytes.len().min(FRAMES_MAX * self.data_max - self.bytes);
        // More is likely to follow the rest of a large write, and what waits behind much.
        let is_much = self.was_cut || MUCH_BYTES <= count.max(self.bytes);
        self.was_cut = count < bytes.len();
        let mut rest = &bytes[..count];
        let mut credit = credit.saturating_sub(self.bytes);
        while !rest.is_empty() {
            let room = |frame: &Transfer| HEADER_BYTES + self.data_max - frame.bytes().len();
            let last = match self.frames.back_mut() {
                Some(last) if room(last) > 0 => last,
                _ => {
                    let bytes = rest.len().min(self.data_max);
                    let is_large = is_much && self.data_max <= credit;
                    let frame = is_large.then(&mut free).flatten();
                    let memory = || Box::new(Vec::with_capacity(HEADER_BYTES + bytes)) as Transfer;
                    let mut frame = frame.unwrap_or_else(memory);
                    frame.put(&[0; HEADER_BYTES]);
                    self.frames.push_back(frame);
                    self.frames.back_mut().expect("just pushed")
                }
            };
            let (now, later) = rest.split_at(rest.len().min(room(last)));
            last.put(now);
            credit = credit.saturating_sub(now.len());
            rest = later;
        }
        self.bytes += count;
        count
    }

    /// The first frame, with at most `most` bytes of data, of which there are some.
    pub(super) fn pop(&mut self, number: u16, most: usize) -> Transfer {
        let mut frame = self.frames.pop_front().expect("there is some data");
        if let Some((now, later)) = frame.bytes().split_at_checked(HEADER_BYTES + most)
            && !later.is_empty()
        {
            let later = [&[0; HEADER_BYTES], later].concat();
            self.frames.push_front(Box::new(later));
            frame = Box::new(now.to_vec());
        }
        let length = frame.bytes().len() - HEADER_BYTES;
        self.bytes -= length;
        frame.bytes_mut()[..HEADER_BYTES]
            .copy_from_slice(&Header::new(number, Kind::Data, length).to_bytes());
        frame
    }
}
