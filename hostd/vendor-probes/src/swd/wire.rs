//! One access as bits, and the meaning of what the target says meanwhile.

use crate::port::{Access, Ack, PortError};

/// One clock on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bit {
    /// The host drives this level.
    Out(bool),
    /// The host listens.
    In,
}

/// A probe that takes bits.
pub(crate) trait Wire {
    /// By how many clocks the probe hears early: one, if it samples the line after the edge with which the target drives
    /// the next bit.
    const LEAD: usize;

    fn connect(&mut self) -> Result<(), PortError>;

    fn disconnect(&mut self) -> Result<(), PortError>;

    /// Sets the clock, and tells what it is.
    fn set_clock(&mut self, hz: u32) -> Result<u32, PortError>;

    /// Clocks bits; the level of the line at each.
    fn clock(&mut self, bits: &[Bit]) -> Result<Vec<bool>, PortError>;

    fn set_reset(&mut self, is_held: bool) -> Result<(), PortError>;
}

const REQUEST_BITS: usize = 8;
const TURN_BITS: usize = 1;
const ACK_BITS: usize = 3;
const DATA_BITS: usize = 32;
const PARITY_BITS: usize = 1;

/// Bits of any access.
pub(super) const STEP_BITS: usize =
    REQUEST_BITS + TURN_BITS + ACK_BITS + TURN_BITS + DATA_BITS + PARITY_BITS;

/// The bits of an access, with data in either direction.
pub(super) fn bits(access: Access) -> Vec<Bit> {
    let (a2, a3) = (access.address & 4 != 0, access.address & 8 != 0);
    let parity = access.is_ap ^ access.is_read ^ a2 ^ a3;
    let request = [
        true,
        access.is_ap,
        access.is_read,
        a2,
        a3,
        parity,
        false,
        true,
    ];
    let mut bits = request.map(Bit::Out).to_vec();
    bits.extend([Bit::In; TURN_BITS + ACK_BITS]);
    if access.is_read {
        bits.extend([Bit::In; DATA_BITS + PARITY_BITS + TURN_BITS]);
    } else {
        bits.extend([Bit::In; TURN_BITS]);
        let data = (0..DATA_BITS).map(|place| access.data >> place & 1 == 1);
        bits.extend(data.map(Bit::Out));
        bits.push(Bit::Out(is_odd(access.data)));
    }
    bits
}

fn is_odd(word: u32) -> bool {
    word.count_ones() % 2 == 1
}

/// What the target said to an access that began with the first of these bits: what was read, zero for a write.
///
/// # Panics
/// If there are fewer bits than those of an access.
pub(super) fn answer(heard: &[bool], is_read: bool, lead: usize) -> Result<u32, Ack> {
    let (ack, rest) = heard[REQUEST_BITS + TURN_BITS - lead..].split_at(ACK_BITS);
    match ack {
        [true, false, false] => {}
        [false, true, false] => return Err(Ack::Wait),
        [false, false, true] => return Err(Ack::Fault),
        [true, true, true] => return Err(Ack::Silence),
        _ => return Err(Ack::Broken),
    }
    if !is_read {
        return Ok(0);
    }
    let data = rest[..DATA_BITS].iter().zip(0..);
    let word = data.fold(0u32, |word, (bit, place)| word | u32::from(*bit) << place);
    if is_odd(word) == rest[DATA_BITS] {
        Ok(word)
    } else {
        Err(Ack::Broken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(early: usize, ack: [bool; 3], word: u32, parity: bool) -> Vec<bool> {
        let mut bits = vec![true; REQUEST_BITS + TURN_BITS - early];
        bits.extend(ack);
        bits.extend((0..DATA_BITS).map(|place| word >> place & 1 == 1));
        bits.push(parity);
        bits.resize(STEP_BITS, true);
        bits
    }

    #[test]
    fn what_is_heard_means_something_or_not() {
        const OK: [bool; 3] = [true, false, false];
        for early in [0, 1] {
            let told = |ack, parity| answer(&heard(early, ack, 0x0BB1_1477, parity), true, early);
            assert_eq!(told(OK, true), Ok(0x0BB1_1477));
            assert_eq!(told(OK, false), Err(Ack::Broken));
            assert_eq!(told([false, true, false], false), Err(Ack::Wait));
            assert_eq!(told([false, false, true], false), Err(Ack::Fault));
            assert_eq!(told([true; 3], false), Err(Ack::Silence));
            assert_eq!(told([false; 3], false), Err(Ack::Broken));
            assert_eq!(told([true, true, false], false), Err(Ack::Broken));
        }
    }

    #[test]
    fn a_read_of_the_identification_is_a5() {
        let bits = bits(Access::read_dp(0));
        assert_eq!(bits.len(), STEP_BITS);
        let request = (0..8).filter(|place| bits[*place] == Bit::Out(true));
        assert_eq!(request.map(|place| 1 << place).sum::<u32>(), 0xA5);
    }
}
