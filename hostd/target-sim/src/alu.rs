//! Arithmetic with flags, as the ARMv6-M manual defines it (AddWithCarry, Shift_C).

/// Result of an addition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sum {
    pub(crate) value: u32,
    pub(crate) carry: bool,
    pub(crate) overflow: bool,
}

/// `a + b + carry`; subtraction is the addition of the complement with carry.
#[inline]
pub(crate) const fn add_with_carry(a: u32, b: u32, carry: bool) -> Sum {
    let (partial, carry_1) = a.overflowing_add(b);
    let (value, carry_2) = partial.overflowing_add(carry as u32);
    Sum {
        value,
        carry: carry_1 | carry_2,
        overflow: ((a ^ value) & (b ^ value)) >> 31 == 1,
    }
}

/// The kinds of shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shift {
    Left,
    LogicalRight,
    ArithmeticRight,
    RotateRight,
}

/// Shifts by `amount` (0 to 255): returns the value and the carry out. A shift by zero leaves both
/// unchanged.
#[inline]
pub(crate) const fn shift(kind: Shift, value: u32, amount: u32, carry: bool) -> (u32, bool) {
    if amount == 0 {
        return (value, carry);
    }
    // After one shift less, the last bit to be shifted out is at the edge.
    let last = amount - 1;
    match kind {
        Shift::Left => {
            if amount > 32 {
                (0, false)
            } else {
                let edge = value << last;
                (edge << 1, edge >> 31 == 1)
            }
        }
        Shift::LogicalRight => {
            if amount > 32 {
                (0, false)
            } else {
                let edge = value >> last;
                (edge >> 1, edge & 1 == 1)
            }
        }
        Shift::ArithmeticRight => {
            let edge = value.cast_signed() >> if last > 31 { 31 } else { last };
            ((edge >> 1).cast_unsigned(), edge & 1 == 1)
        }
        Shift::RotateRight => {
            let turned = value.rotate_right(amount & 31);
            (turned, turned >> 31 == 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addition_sets_carry_on_unsigned_and_overflow_on_signed_wrap() {
        let sum = |a, b, c| {
            let sum = add_with_carry(a, b, c);
            (sum.value, sum.carry, sum.overflow)
        };
        assert_eq!(sum(1, 2, false), (3, false, false));
        assert_eq!(sum(u32::MAX, 0, true), (0, true, false));
        assert_eq!(sum(0x7fff_ffff, 1, false), (0x8000_0000, false, true));
        assert_eq!(sum(0x8000_0000, 0x8000_0000, false), (0, true, true));
        // 5 - 7 borrows: carry clear.
        assert_eq!(sum(5, !7, true), (0xffff_fffe, false, false));
        assert_eq!(sum(7, !7, true), (0, true, false));
    }

    #[test]
    fn shifts_by_32_and_more_behave_as_the_manual_says() {
        let value = 0x8000_0001;
        assert_eq!(shift(Shift::Left, value, 0, true), (value, true));
        assert_eq!(shift(Shift::Left, value, 1, false), (2, true));
        assert_eq!(shift(Shift::Left, value, 32, false), (0, true));
        assert_eq!(shift(Shift::Left, value, 33, true), (0, false));
        assert_eq!(
            shift(Shift::LogicalRight, value, 1, false),
            (0x4000_0000, true)
        );
        assert_eq!(shift(Shift::LogicalRight, value, 32, false), (0, true));
        assert_eq!(shift(Shift::LogicalRight, value, 33, true), (0, false));
        assert_eq!(
            shift(Shift::ArithmeticRight, value, 4, true),
            (0xf800_0000, false)
        );
        assert_eq!(
            shift(Shift::ArithmeticRight, value, 32, false),
            (u32::MAX, true)
        );
        assert_eq!(
            shift(Shift::ArithmeticRight, value, 255, false),
            (u32::MAX, true)
        );
        assert_eq!(
            shift(Shift::RotateRight, value, 1, false),
            (0xc000_0000, true)
        );
        assert_eq!(shift(Shift::RotateRight, value, 32, false), (value, true));
        assert_eq!(shift(Shift::RotateRight, 1, 64, true), (1, false));
    }
}
