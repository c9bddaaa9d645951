//! The DSP extension: arithmetic on half words and bytes side by side, saturation, packing and selection.

use super::Core;
use super::operation::{LaneResult, Lanes, Operation, SaturatingAdd};
use crate::alu::shift;
use crate::bus::Bus;
use crate::word::{bit, low_word, sign_extend};

/// The nearest number that has so many bits, and whether it is another.
fn saturate(value: i64, signed: bool, bits: u8) -> (u32, bool) {
    let (least, most) = if signed {
        let edge = 1i64 << (bits.clamp(1, 32) - 1);
        (-edge, edge - 1)
    } else {
        (0, (1i64 << bits.min(32)) - 1)
    };
    let nearest = value.clamp(least, most);
    (low_word(nearest.cast_unsigned()), nearest != value)
}

/// One lane of a word, as a number.
fn lane(word: u32, place: u32, bits: u32, signed: bool) -> i64 {
    let value = word >> place & (u32::MAX >> (32 - bits));
    if signed {
        i64::from(sign_extend(value, bits).cast_signed())
    } else {
        i64::from(value)
    }
}

impl<B: Bus> Core<B> {
    pub(super) fn parallel(&mut self, operation: Operation) {
        match operation {
            Operation::Parallel {
                lanes,
                result,
                signed,
                d,
                n,
                m,
            } => self.lanes(lanes, result, signed, [d, n, m]),
            Operation::AddSaturating { kind, d, n, m } => self.add_saturating(kind, [d, n, m]),
            Operation::Saturate {
                signed,
                d,
                n,
                bits,
                shift: kind,
                amount,
            } => {
                let (value, _) = shift(kind, self.get(n), u32::from(amount), false);
                let (value, is_other) = saturate(i64::from(value.cast_signed()), signed, bits);
                self.saturated |= is_other;
                self.put(d, value);
            }
            Operation::SaturateHalves { signed, d, n, bits } => {
                let source = self.get(n);
                let (low, low_is_other) = saturate(lane(source, 0, 16, true), signed, bits);
                let (high, high_is_other) = saturate(lane(source, 16, 16, true), signed, bits);
                self.saturated |= low_is_other || high_is_other;
                self.put(d, low & 0xffff | high << 16);
            }
            Operation::Pack {
                takes_top,
                d,
                n,
                m,
                amount,
            } => {
                let (n, m) = (self.get(n), self.get(m));
                let value = if takes_top {
                    let shifted = m.cast_signed() >> u32::from(amount).min(31);
                    n & 0xffff_0000 | shifted.cast_unsigned() & 0xffff
                } else {
                    n & 0xffff | m << (amount & 31) & 0xffff_0000
                };
                self.put(d, value);
            }
            Operation::Select { d, n, m } => {
                let greater = u32::from(self.greater);
                let mask = (0..4)
                    .filter(|place| bit(greater, *place))
                    .fold(0, |mask, place| mask | 0xff << (place * 8));
                let value = self.get(n) & mask | self.get(m) & !mask;
                self.put(d, value);
            }
            _ => {}
        }
    }

    fn lanes(&mut self, lanes: Lanes, result: LaneResult, signed: bool, [d, n, m]: [u8; 3]) {
        let (n, m) = (self.get(n), self.get(m));
        // For each lane from the lowest: whether it subtracts; the crossed forms swap the second operand.
        let (bits, m, subtracts) = match lanes {
            Lanes::AddHalves => (16, m, [false, false]),
            Lanes::SubtractHalves => (16, m, [true, true]),
            Lanes::AddSubtractHalves => (16, m.rotate_left(16), [true, false]),
            Lanes::SubtractAddHalves => (16, m.rotate_left(16), [false, true]),
            Lanes::AddBytes => (8, m, [false, false]),
            Lanes::SubtractBytes => (8, m, [true, true]),
        };
        let mask = u32::MAX >> (32 - bits);
        let (mut word, mut greater) = (0, 0u32);
        for number in 0..32 / bits {
            let place = number * bits;
            let (a, b) = (lane(n, place, bits, signed), lane(m, place, bits, signed));
            let is_subtraction = subtracts[(number & 1) as usize];
            let exact = if is_subtraction { a - b } else { a + b };
            let value = match result {
                LaneResult::Plain => low_word(exact.cast_unsigned()),
                LaneResult::Halved => low_word((exact >> 1).cast_unsigned()),
                LaneResult::Saturated => {
                    let bits = if bits == 8 { 8 } else { 16 };
                    saturate(exact, signed, bits).0
                }
            };
            word |= (value & mask) << place;
            // Signed results tell their sign, unsigned sums their carry.
            let reaches = if signed || is_subtraction {
                exact >= 0
            } else {
                exact > i64::from(mask)
            };
            if reaches {
                greater |= if bits == 8 { 1 } else { 3 } << (place / 8);
            }
        }
        if result == LaneResult::Plain {
            self.greater = crate::word::low_byte(greater);
        }
        self.put(d, word);
    }

    /// QADD, QSUB, QDADD, QDSUB: m, plus or minus n, which may be doubled first.
    fn add_saturating(&mut self, kind: SaturatingAdd, [d, n, m]: [u8; 3]) {
        let number = |value: u32| i64::from(value.cast_signed());
        let (a, mut b) = (number(self.get(m)), number(self.get(n)));
        if kind.doubles {
            let (doubled, is_other) = saturate(2 * b, true, 32);
            self.saturated |= is_other;
            b = number(doubled);
        }
        let sum = if kind.subtracts { a - b } else { a + b };
        let (value, is_other) = saturate(sum, true, 32);
        self.saturated |= is_other;
        self.put(d, value);
    }
}
