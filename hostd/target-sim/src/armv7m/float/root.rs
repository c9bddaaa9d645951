//! The square root.

use super::number::{
    DEFAULT_NAN, Finite, Number, infinity, invalid, not_a_number, round, unpack, zero,
};
use super::status::Status;

/// Enough more bits, of twice as many, for an exact root and what is needed to round it.
const MORE_BITS: u32 = 62;

/// The square root of a number.
pub(in crate::armv7m) fn square_root(bits: u32, status: &mut Status) -> u32 {
    let operand = unpack(bits, status);
    if let Some(nan) = not_a_number(&[operand], status) {
        return nan;
    }
    match operand {
        Number::Finite(finite) if finite.significand == 0 => zero(finite.negative),
        Number::Finite(Finite { negative: true, .. }) | Number::Infinite { negative: true } => {
            invalid(status)
        }
        Number::Infinite { negative: false } => infinity(false),
        Number::Finite(finite) => {
            let is_odd = finite.exponent & 1 != 0;
            let shift = MORE_BITS + u32::from(is_odd);
            let radicand = finite.significand << shift;
            let root = radicand.isqrt();
            // The lowest bit also says that there is a remainder.
            let rest = u128::from(root * root != radicand);
            let root = Finite {
                negative: false,
                exponent: (finite.exponent - shift.cast_signed()) / 2,
                significand: root | rest,
            };
            round(root, status)
        }
        Number::Nan { .. } => DEFAULT_NAN,
    }
}
