//! What was written to a connection and is to go: frames of data whose headers are missing, so that a frame is sent as
//! it stands.

use std::collections::VecDeque;

use super::frame::{HEADER_BYTES, Header, Kind};

/// Full frames that wait, of each connection.
const FRAMES_MAX: usize = 2;

#[derive(Debug)]
pub(super) struct Outbox {
    frames: VecDeque<Vec<u8>>,
    /// Bytes of data in all of them.
    bytes: usize,
    /// The most data of a frame.
    data_max: usize,
}

impl Outbox {
    pub(super) fn new(data_max: usize) -> Self {
        Self {
            frames: VecDeque::new(),
            bytes: 0,
            data_max,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    pub(super) fn clear(&mut self) {
        self.frames.clear();
        self.bytes = 0;
    }

    /// Takes as many of the bytes as there is room for.
    pub(super) fn write(&mut self, bytes: &[u8]) -> usize {
        let count = bytes.len().min(FRAMES_MAX * self.data_max - self.bytes);
        let mut rest = &bytes[..count];
        while !rest.is_empty() {
            let room = |frame: &Vec<u8>| HEADER_BYTES + self.data_max - frame.len();
            let last = match self.frames.back_mut() {
                Some(last) if room(last) > 0 => last,
                _ => {
                    let bytes = HEADER_BYTES + rest.len().min(self.data_max);
                    let mut frame = Vec::with_capacity(bytes);
                    frame.resize(HEADER_BYTES, 0);
                    self.frames.push_back(frame);
                    self.frames.back_mut().expect("just pushed")
                }
            };
            let (now, later) = rest.split_at(rest.len().min(room(last)));
            last.extend_from_slice(now);
            rest = later;
        }
        self.bytes += count;
        count
    }

    /// The first frame, with at most `most` bytes of data, of which there are some.
    pub(super) fn pop(&mut self, number: u16, most: usize) -> Vec<u8> {
        let data = |frame: &Vec<u8>| frame.len() - HEADER_BYTES;
        let is_whole = self.frames.front().is_some_and(|first| data(first) <= most);
        let mut frame = if is_whole {
            self.frames.pop_front().unwrap_or_default()
        } else {
            let first = self.frames.front_mut().expect("there is some data");
            let part = first[..HEADER_BYTES + most].to_vec();
            first.drain(HEADER_BYTES..HEADER_BYTES + most);
            part
        };
        let length = data(&frame);
        self.bytes -= length;
        frame[..HEADER_BYTES].copy_from_slice(&Header::new(number, Kind::Data, length).to_bytes());
        frame
    }
}
