//! Products, sums of products, quotients.

use super::operation::{Flags, LongProduct, Operation, Product};
use super::{Core, Executed, PC, Trap};
use crate::bus::Bus;
use crate::word::{bit, low_word, sign_extend};

/// Cycles that a division takes beyond the first.
const DIVIDE_CYCLES: u64 = 4;

/// The low or the high half of a word, as a signed number.
fn half(value: u32, high: bool) -> i64 {
    let half = if high { value >> 16 } else { value };
    i64::from(sign_extend(half, 16).cast_signed())
}

fn signed(value: u32) -> i64 {
    i64::from(value.cast_signed())
}

fn low(value: i64) -> u32 {
    low_word(value.cast_unsigned())
}

/// The two products of half words, with those of the second factor swapped or not.
fn dual(n: u32, m: u32, swaps: bool) -> (i64, i64) {
    let m = if swaps { m.rotate_left(16) } else { m };
    (
        half(n, false) * half(m, false),
        half(n, true) * half(m, true),
    )
}

impl<B: Bus> Core<B> {
    pub(super) fn multiply_or_divide(&mut self, operation: Operation) -> Executed {
        match operation {
            Operation::Multiply {
                kind,
                flags,
                d,
                n,
                m,
                a,
            } => self.multiply(kind, flags, [d, n, m, a]),
            Operation::MultiplyLong {
                kind,
                low,
                high,
                n,
                m,
            } => self.multiply_long(kind, [low, high, n, m]),
            Operation::Divide { signed, d, n, m } => return self.divide(signed, [d, n, m]),
            Operation::SumOfDifferences { d, n, m, a } => {
                let (x, y) = (self.get(n).to_le_bytes(), self.get(m).to_le_bytes());
                let differences = x.iter().zip(y).map(|(x, y)| u32::from(x.abs_diff(y)));
                let sum = differences.sum::<u32>();
                let value = self.accumulator(a).wrapping_add(sum);
                self.put(d, value);
            }
            _ => return Err(Trap::Undefined),
        }
        Ok(())
    }

    /// The register that a product is added to; there is none if it would be the program counter.
    fn accumulator(&self, a: u8) -> u32 {
        if usize::from(a) == PC { 0 } else { self.get(a) }
    }

    fn multiply(&mut self, kind: Product, flags: Flags, [d, n, m, a]: [u8; 4]) {
        let (n, m, a) = (self.get(n), self.get(m), self.accumulator(a));
        let sum = |core: &mut Self, product: i64| {
            let sum = product + signed(a);
            core.saturated |= i32::try_from(sum).is_err();
            low(sum)
        };
        let value = match kind {
            Product::Add => n.wrapping_mul(m).wrapping_add(a),
            Product::Subtract => a.wrapping_sub(n.wrapping_mul(m)),
            Product::Halves(which) => {
                let which = u32::from(which);
                sum(self, half(n, bit(which, 1)) * half(m, bit(which, 0)))
            }
            Product::WordByHalf(high) => sum(self, (signed(n) * half(m, high)) >> 16),
            Product::DualAdd(swaps) => {
                let (one, other) = dual(n, m, swaps);
                sum(self, one + other)
            }
            Product::DualSubtract(swaps) => {
                let (one, other) = dual(n, m, swaps);
                sum(self, one - other)
            }
            Product::High(rounds) | Product::HighSubtract(rounds) => {
                let product = signed(n) * signed(m);
                let base = i64::from(a) << 32;
                let exact = if matches!(kind, Product::High(_)) {
                    base.wrapping_add(product)
                } else {
                    base.wrapping_sub(product)
                };
                low(exact.wrapping_add(i64::from(rounds) << 31) >> 32)
            }
        };
        self.put(d, value);
        if self.sets(flags) {
            self.negative = value >> 31 == 1;
            self.zero = value == 0;
        }
    }

    fn multiply_long(&mut self, kind: LongProduct, [low, high, n, m]: [u8; 4]) {
        let (n, m) = (self.get(n), self.get(m));
        let (least, most) = (self.get(low), self.get(high));
        let sum = (u64::from(most) << 32 | u64::from(least)).cast_signed();
        let unsigned = (u64::from(n) * u64::from(m)).cast_signed();
        let result = match kind {
            LongProduct::Signed => signed(n) * signed(m),
            LongProduct::Unsigned => unsigned,
            LongProduct::SignedAdd => sum.wrapping_add(signed(n) * signed(m)),
            LongProduct::UnsignedAdd => sum.wrapping_add(unsigned),
            LongProduct::UnsignedAddBoth => {
                let both = i64::from(least) + i64::from(most);
                unsigned.wrapping_add(both)
            }
            LongProduct::Halves(which) => {
                let which = u32::from(which);
                sum.wrapping_add(half(n, bit(which, 1)) * half(m, bit(which, 0)))
            }
            LongProduct::DualAdd(swaps) => {
                let (one, other) = dual(n, m, swaps);
                sum.wrapping_add(one + other)
            }
            LongProduct::DualSubtract(swaps) => {
                let (one, other) = dual(n, m, swaps);
                sum.wrapping_add(one - other)
            }
        };
        self.put(low, low_word(result.cast_unsigned()));
        self.put(high, low_word(result.cast_unsigned() >> 32));
    }

    fn divide(&mut self, is_signed: bool, [d, n, m]: [u8; 3]) -> Executed {
        self.cycles += DIVIDE_CYCLES;
        let (n, m) = (self.get(n), self.get(m));
        if m == 0 && self.system.traps_division() {
            return Err(Trap::DivisionByZero);
        }
        let quotient = match (m, is_signed) {
            (0, _) => 0,
            (_, true) => n
                .cast_signed()
                .wrapping_div(m.cast_signed())
                .cast_unsigned(),
            (_, false) => n / m,
        };
        self.put(d, quotient);
        Ok(())
    }
}
