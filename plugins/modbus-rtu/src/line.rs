//! One line: its characters, and the frames that silences make of them.

use hostd_plugin::decoder::Found;

use crate::crc::crc;
use crate::message::{self, Kind, Pending};
use crate::timing::Timing;
use crate::uart::{Character, Fault, Receiver};
use crate::{ADDRESS, BYTE, CHECKSUM, DATA, EXCEPTION, FUNCTION, REQUEST, RESPONSE, WARNING};

/// Bytes of the shortest frame, address, function and checksum, and of the longest.
const FRAME_BYTES_MIN: usize = 4;
const FRAME_BYTES_MAX: usize = 256;

/// What travels on a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Either,
    Requests,
    Responses,
}

/// A line in the middle of a capture.
#[derive(Debug)]
pub(crate) struct Line {
    channel: usize,
    inverted: bool,
    direction: Direction,
    receiver: Receiver,
    frame: Vec<Character>,
}

impl Line {
    pub(crate) fn new(channel: usize, inverted: bool, direction: Direction) -> Self {
        Self {
            channel,
            inverted,
            direction,
            receiver: Receiver::new(),
            frame: Vec::new(),
        }
    }

    /// Since when something has been on its way that is not yet found.
    pub(crate) fn open_since(&self) -> Option<u64> {
        let frame = self.frame.first().map(|first| first.start);
        frame.or(self.receiver.open_since())
    }

    /// Show it the samples before `at`, and the levels of all channels from there on.
    pub(crate) fn advance(
        &mut self,
        at: u64,
        levels: Option<u8>,
        timing: &Timing,
        pending: &mut Option<Pending>,
        found: &mut Found,
    ) {
        let level = levels.map(|levels| (levels >> self.channel & 1 != 0) != self.inverted);
        if let Some(character) = self.receiver.advance(at, level, timing) {
            self.take(character, timing, pending, found);
        }
        // The next character cannot begin before the one that is on its way.
        let next = self.receiver.open_since().unwrap_or(at);
        let last = self.frame.last().map(|last| last.end);
        if last.is_some_and(|end| end + timing.between <= next) {
            self.close(pending, found);
        }
    }

    fn take(
        &mut self,
        character: Character,
        timing: &Timing,
        pending: &mut Option<Pending>,
        found: &mut Found,
    ) {
        let Character {
            start, end, byte, ..
        } = character;
        if let Some(last) = self.frame.last() {
            let gap = start.saturating_sub(last.end);
            if timing.between <= gap || self.frame.len() == FRAME_BYTES_MAX {
                self.close(pending, found);
            } else if timing.inside < gap {
                let text = "silence of more than 1.5 characters inside a frame";
                found.text(last.end, start, WARNING, text);
            }
        }
        found.number(start, end, BYTE, byte.into());
        match character.fault {
            Some(Fault::Parity) => found.text(start, end, WARNING, "parity error"),
            Some(Fault::Framing) => found.text(start, end, WARNING, "stop bit is low"),
            None => {}
        }
        self.frame.push(character);
    }

    /// The frame is over: say what it is.
    pub(crate) fn close(&mut self, pending: &mut Option<Pending>, found: &mut Found) {
        let frame = std::mem::take(&mut self.frame);
        let (Some(first), Some(last)) = (frame.first(), frame.last()) else {
            return;
        };
        let (start, end) = (first.start, last.end);
        let bytes: Vec<u8> = frame.iter().map(|character| character.byte).collect();
        if bytes.len() < FRAME_BYTES_MIN {
            let text = format!("frame of {} bytes; the shortest has 4", bytes.len());
            return found.text(start, end, WARNING, text);
        }
        let (body, check) = bytes.split_at(bytes.len() - 2);
        let (address, function, data) = (body[0], body[1], &body[2..]);
        let sent = u16::from_le_bytes([check[0], check[1]]);
        found.number(start, first.end, ADDRESS, address.into());
        let named = message::function(function);
        found.text(frame[1].start, frame[1].end, FUNCTION, named);
        let fields = &frame[2..frame.len() - 2];
        if let (Some(first), Some(last)) = (fields.first(), fields.last()) {
            let words: Vec<u64> = data.iter().map(|byte| u64::from(*byte)).collect();
            found.words(first.start, last.end, DATA, words);
        }
        let check_start = frame[frame.len() - 2].start;
        found.number(check_start, end, CHECKSUM, sent.into());
        let wanted = crc(body.iter().copied());
        if sent != wanted {
            let text = format!("checksum is {sent:04X}, should be {wanted:04X}");
            found.text(check_start, end, WARNING, text);
            // What a damaged frame says is not to be believed, nor what it answers.
            if self.direction != Direction::Responses {
                *pending = None;
            }
            return;
        }
        let told = message::told(self.direction, (address, function, data), pending.as_ref());
        let class = match told.kind {
            Kind::Request => REQUEST,
            Kind::Response => RESPONSE,
            Kind::Exception => EXCEPTION,
        };
        found.text(start, end, class, told.text);
        if let Some(warning) = told.warning {
            found.text(start, end, WARNING, warning);
        }
        *pending = told.pending;
    }
}
