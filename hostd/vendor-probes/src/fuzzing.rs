//! The entry that fuzzers and the seeded tests feed with untrusted bytes.

use crate::front::{Front, PACKET_BYTES};
use crate::port::{Access, Accessed, Ack, Port, PortError};

/// A port that answers out of the input, and sleeps for nothing.
struct Any<'a>(&'a [u8]);

impl Any<'_> {
    fn next(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    fn some(&mut self) -> Result<(), PortError> {
        match self.next() {
            1 => Err(PortError::Refused(String::new())),
            _ => Ok(()),
        }
    }
}

impl Port for Any<'_> {
    fn connect(&mut self) -> Result<(), PortError> {
        self.some()
    }

    fn disconnect(&mut self) -> Result<(), PortError> {
        self.some()
    }

    fn set_clock(&mut self, _: u32) -> Result<(), PortError> {
        self.some()
    }

    fn configure(&mut self, _: u8, _: u16) {}

    fn sequence(&mut self, bits: &[bool]) -> Result<(), PortError> {
        assert!((1..=256).contains(&bits.len()));
        self.some()
    }

    fn access(&mut self, accesses: &[Access]) -> Result<Accessed, PortError> {
        assert!(!accesses.is_empty() && accesses.len() <= PACKET_BYTES);
        let mut accessed = Accessed {
            done: 0,
            ack: Ack::Ok,
            values: Vec::new(),
        };
        for access in accesses {
            match self.next() {
                1 => accessed.ack = Ack::Wait,
                2 => accessed.ack = Ack::Fault,
                3 => accessed.ack = Ack::Silence,
                4 => return Err(PortError::Refused(String::new())),
                value => {
                    accessed.done += 1;
                    accessed
                        .values
                        .extend(access.is_read.then_some(u32::from(value)));
                    continue;
                }
            }
            break;
        }
        Ok(accessed)
    }

    fn set_reset(&mut self, _: bool) -> Result<(), PortError> {
        self.some()
    }
}

/// Any bytes as packets, each after its length in two bytes, for a probe that is connected and answers anything. Packets
/// that only sleep are left out.
///
/// # Panics
/// If an answer is empty, too long, or to another command.
pub fn packets(data: &[u8]) {
    const SLEEPERS: [u8; 2] = [0x09, 0x10];
    let half = data.len() / 2;
    let mut front = Front::new(Any(&data[half..]), "any");
    let mut rest = &data[..half];
    let _ = front.answer(&[0x02, 1]);
    while let Some(([low, high], tail)) = rest.split_first_chunk() {
        let length = usize::from(u16::from_le_bytes([*low, *high])).min(tail.len());
        let (packet, tail) = tail.split_at(length);
        rest = tail;
        if packet.first().is_some_and(|first| SLEEPERS.contains(first)) {
            continue;
        }
        let Ok(answer) = front.answer(packet) else {
            panic!("the port is never lost");
        };
        assert!((1..=PACKET_BYTES).contains(&answer.len()));
        assert!(answer[0] == 0xFF || packet.first() == Some(&answer[0]));
    }
}
