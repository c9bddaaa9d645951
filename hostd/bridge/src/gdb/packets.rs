//! Packets of the remote protocol on a connection: framed, summed up and acknowledged.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use super::Wire;

/// Largest packet that GDB may send and be sent, with what frames it.
pub(super) const PACKET_BYTES_MAX: usize = 8 << 10;

/// What frames a packet: `$`, `#` and two digits.
const FRAME_BYTES: usize = 4;

/// Bytes read at once.
const READ_BYTES: usize = 4 << 10;

/// Longest sentence of a refusal.
const SENTENCE_CHARS_MAX: usize = 400;

/// Ctrl-C.
const INTERRUPT: u8 = 3;

/// The answer to what cannot be understood or is refused.
pub(super) const REFUSED: &[u8] = b"E01";

/// GDB's packet that ends acknowledgements.
pub(super) const NO_ACKNOWLEDGEMENTS: &[u8] = b"QStartNoAckMode";

/// A packet in its frame.
pub(super) fn framed(body: &[u8]) -> Vec<u8> {
    let sum = body.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    [b"$", body, format!("#{sum:02x}").as_bytes()].concat()
}

/// A packet that says to GDB why something is not done, which GDB shows.
pub(super) fn error_packet(why: &str) -> Vec<u8> {
    // These are part of frames, escapes and repetitions.
    let plain = |letter: char| match letter {
        '#' | '$' | '}' | '*' => '?',
        ' '..='~' => letter,
        _ => '?',
    };
    let sentence: String = why.chars().take(SENTENCE_CHARS_MAX).map(plain).collect();
    framed(format!("E.{sentence}").as_bytes())
}

/// All that is said to a GDB that is not served, and why: the answer to its first packet, which GDB shows.
#[must_use]
pub fn refusal(why: &str) -> Vec<u8> {
    [b"+", &error_packet(why)[..]].concat()
}

/// What GDB said.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// A packet, without its frame.
    Packet(Vec<u8>),
    /// A packet with the checksum of another one.
    Corrupt,
    /// A packet beyond [`PACKET_BYTES_MAX`].
    Overlong,
    /// The last answer did not arrive whole: once more.
    Again,
    /// Ctrl-C.
    Interrupt,
}

/// Where in a packet the next byte belongs.
#[derive(Debug, Default)]
enum Place {
    #[default]
    Between,
    Body,
    FirstDigit,
    LastDigit(u8),
}

/// Finds packets in bytes.
#[derive(Debug, Default)]
struct Framing {
    place: Place,
    body: Vec<u8>,
    sum: u8,
    is_overlong: bool,
}

impl Framing {
    fn push(&mut self, byte: u8) -> Option<Said> {
        match (&self.place, byte) {
            // What is not escaped begins a packet: the end of the one before is lost.
            (Place::Between | Place::Body, b'$') => {
                *self = Self {
                    place: Place::Body,
                    ..Self::default()
                };
                None
            }
            (Place::Between, b'-') => Some(Said::Again),
            (Place::Between, INTERRUPT) => Some(Said::Interrupt),
            (Place::Between, _) => None,
            (Place::Body, b'#') => {
                self.place = Place::FirstDigit;
                None
            }
            (Place::Body, byte) => {
                self.take(byte);
                None
            }
            (Place::FirstDigit, digit) => {
                self.place = Place::LastDigit(digit);
                None
            }
            (Place::LastDigit(first), digit) => Some(self.end(*first, digit)),
        }
    }

    fn take(&mut self, byte: u8) {
        self.sum = self.sum.wrapping_add(byte);
        self.is_overlong |= self.body.len() + FRAME_BYTES >= PACKET_BYTES_MAX;
        if !self.is_overlong {
            self.body.push(byte);
        }
    }

    fn end(&mut self, first: u8, last: u8) -> Said {
        let Self {
            body,
            sum,
            is_overlong,
            ..
        } = std::mem::take(self);
        let digit = |digit: u8| char::from(digit).to_digit(16);
        let told = digit(first).zip(digit(last));
        match told.map(|(first, last)| first << 4 | last) {
            Some(told) if told == u32::from(sum) && is_overlong => Said::Overlong,
            Some(told) if told == u32::from(sum) => Said::Packet(body),
            _ => Said::Corrupt,
        }
    }
}

/// The connection to GDB.
pub(super) struct Link<'w, W> {
    wire: &'w mut W,
    received: VecDeque<u8>,
    framing: Framing,
    has_ended: bool,
    /// Every packet is acknowledged, until GDB does without.
    acknowledges: bool,
    /// The last packet that was sent, which GDB may want once more.
    last: Vec<u8>,
}

impl<'w, W: Wire> Link<'w, W> {
    pub(super) fn new(wire: &'w mut W) -> Self {
        Self {
            wire,
            received: VecDeque::new(),
            framing: Framing::default(),
            has_ended: false,
            acknowledges: true,
            last: Vec::new(),
        }
    }

    /// GDB is gone, and all that it said was heard.
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended && self.received.is_empty()
    }

    /// What GDB said, if anything is whole in time.
    pub(super) fn next(&mut self, wait: Duration) -> io::Result<Option<Said>> {
        let said = self.find();
        if said.is_some() || self.has_ended {
            return Ok(said);
        }
        let mut bytes = [0; READ_BYTES];
        match self.wire.read(&mut bytes, wait)? {
            Some(0) => self.has_ended = true,
            Some(count) => self.received.extend(&bytes[..count]),
            None => {}
        }
        Ok(self.find())
    }

    fn find(&mut self) -> Option<Said> {
        while let Some(byte) = self.received.pop_front() {
            let said = self.framing.push(byte);
            if said.is_some() {
                return said;
            }
        }
        None
    }

    /// Says whether the last packet arrived whole, unless GDB does without that.
    pub(super) fn acknowledge(&mut self, is_whole: bool) -> io::Result<()> {
        match (self.acknowledges, is_whole) {
            (false, _) => Ok(()),
            (true, true) => self.wire.write_all(b"+"),
            (true, false) => self.wire.write_all(b"-"),
        }
    }

    /// From now on nothing is acknowledged.
    pub(super) fn stop_acknowledging(&mut self) {
        self.acknowledges = false;
        self.last = Vec::new();
    }

    /// Sends packets, perhaps none.
    pub(super) fn send(&mut self, packets: &[u8]) -> io::Result<()> {
        if packets.is_empty() {
            return Ok(());
        }
        if self.acknowledges {
            let begins = packets.iter().rposition(|byte| *byte == b'$');
            self.last = packets[begins.unwrap_or_default()..].to_vec();
        }
        self.wire.write_all(packets)
    }

    /// Sends the last packet once more.
    pub(super) fn send_again(&mut self) -> io::Result<()> {
        match self.last.is_empty() {
            true => Ok(()),
            false => self.wire.write_all(&self.last),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(bytes: &[u8]) -> Vec<Said> {
        let mut framing = Framing::default();
        let said = bytes.iter().filter_map(|byte| framing.push(*byte));
        said.collect()
    }

    #[test]
    fn packets_are_found_between_what_is_none() {
        let text = b"++$g#67\x03-$m0,4#FD$m0,4#fdxyz";
        let packet = |body: &[u8]| Said::Packet(body.to_vec());
        assert_eq!(
            said(text),
            [
                packet(b"g"),
                Said::Interrupt,
                Said::Again,
                packet(b"m0,4"),
                packet(b"m0,4")
            ]
        );
        // A packet may have these bytes; one whose end is lost is followed by another.
        assert_eq!(said(b"$a\x03-#91"), [packet(b"a\x03-")]);
        assert_eq!(said(b"$m0,$g#67"), [packet(b"g")]);
    }

    #[test]
    fn a_checksum_counts() {
        assert_eq!(said(b"$g#68"), [Said::Corrupt]);
        assert_eq!(said(b"$g#6x$g#67").len(), 2);
        assert_eq!(said(b"$g#6x$g#67")[0], Said::Corrupt);
        assert_eq!(said(b"$#00"), [Said::Packet(Vec::new())]);
    }

    #[test]
    fn packets_have_a_bound() {
        let largest = vec![b'a'; PACKET_BYTES_MAX - FRAME_BYTES];
        assert_eq!(said(&framed(&largest)), [Said::Packet(largest.clone())]);
        let beyond = [&largest[..], b"a"].concat();
        assert_eq!(said(&framed(&beyond)), [Said::Overlong]);
    }

    #[test]
    fn a_refusal_is_a_packet_whatever_it_says() {
        let told = refusal("no #1: \u{e9}$ \n");
        assert_eq!(told[0], b'+');
        assert_eq!(said(&told[1..]), [Said::Packet(b"E.no ?1: ?? ?".to_vec())]);
        assert!(refusal(&"x".repeat(10_000)).len() < 500);
    }
}
