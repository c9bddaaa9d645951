//! The floating-point status and control register: flags that accumulate, and how results are rounded.

use crate::word::bit;

/// Flags of what happened since they were cleared.
pub(in crate::armv7m) const INVALID: u32 = 1;
pub(in crate::armv7m) const DIVISION_BY_ZERO: u32 = 1 << 1;
pub(in crate::armv7m) const OVERFLOW: u32 = 1 << 2;
pub(in crate::armv7m) const UNDERFLOW: u32 = 1 << 3;
pub(in crate::armv7m) const INEXACT: u32 = 1 << 4;
pub(in crate::armv7m) const INPUT_DENORMAL: u32 = 1 << 7;

const ROUNDING: u32 = 22;
const FLUSH_TO_ZERO: u32 = 24;
const DEFAULT_NAN: u32 = 25;
const ALTERNATIVE_HALF: u32 = 26;
/// Bits that exist.
const MASK: u32 = 0xf7c0_009f;
/// Bits that FPDSCR gives to a new context.
pub(in crate::armv7m) const DEFAULTS_MASK: u32 = 0x07c0_0000;

/// The direction in which inexact results are rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::armv7m) enum Rounding {
    /// To the nearest; of two, to the even one.
    Nearest,
    Up,
    Down,
    TowardZero,
}

/// FPSCR.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::armv7m) struct Status(u32);

impl Status {
    pub(in crate::armv7m) const fn new(value: u32) -> Self {
        Self(value & MASK)
    }

    pub(in crate::armv7m) const fn bits(self) -> u32 {
        self.0
    }

    pub(super) fn raise(&mut self, flags: u32) {
        self.0 |= flags;
    }

    pub(in crate::armv7m) fn set_conditions(&mut self, nzcv: u32) {
        self.0 = self.0 & 0x0fff_ffff | nzcv << 28;
    }

    pub(super) const fn rounding(self) -> Rounding {
        match self.0 >> ROUNDING & 3 {
            0 => Rounding::Nearest,
            1 => Rounding::Up,
            2 => Rounding::Down,
            _ => Rounding::TowardZero,
        }
    }

    /// The same, but for the rounding mode.
    pub(super) const fn rounding_to_nearest(self) -> Self {
        Self(self.0 & !(3 << ROUNDING))
    }

    pub(super) const fn flushes(self) -> bool {
        bit(self.0, FLUSH_TO_ZERO)
    }

    pub(super) const fn has_default_nan(self) -> bool {
        bit(self.0, DEFAULT_NAN)
    }

    pub(super) const fn has_alternative_half(self) -> bool {
        bit(self.0, ALTERNATIVE_HALF)
    }
}
