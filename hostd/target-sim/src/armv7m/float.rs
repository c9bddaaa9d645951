//! The floating-point instructions of an FPv4-SP unit: what they do. Registers are S0 to S31; a pair of them
//! is named by its even one.

mod convert;
pub(super) mod decode;
mod fused;
pub(super) mod number;
mod root;
pub(super) mod status;

pub(super) use convert::{
    Format, from_fixed, from_fixed_to_nearest, half_to_single, integer, single_to_half, to_fixed,
};
pub(super) use fused::{add, compare, divide, multiply, multiply_add, subtract};
pub(super) use root::square_root;
pub(super) use status::Status;

/// What an instruction computes from two registers, or from three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arithmetic {
    /// d + n * m, rounded twice; `negates` says which of d and the product change their sign.
    MultiplyThenAdd {
        negates_sum: bool,
        negates_product: bool,
    },
    /// The same, rounded once.
    Fused {
        negates_sum: bool,
        negates_product: bool,
    },
    Multiply {
        negates: bool,
    },
    Add,
    Subtract,
    Divide,
}

/// What an instruction computes from one register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unary {
    Move,
    Absolute,
    Negate,
    SquareRoot,
    /// From the bottom or the top half of a register.
    FromHalf {
        top: bool,
    },
    ToHalf {
        top: bool,
    },
    FromInteger {
        signed: bool,
    },
    ToInteger {
        signed: bool,
        toward_zero: bool,
    },
}

/// One decoded floating-point instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Float {
    Arithmetic {
        kind: Arithmetic,
        d: u8,
        n: u8,
        m: u8,
    },
    Unary {
        kind: Unary,
        d: u8,
        m: u8,
    },
    Constant {
        d: u8,
        value: u32,
    },
    /// With register m, or with zero.
    Compare {
        d: u8,
        m: Option<u8>,
        signals: bool,
    },
    /// Between a floating-point and a fixed-point number in the same register.
    Fixed {
        d: u8,
        to_fixed: bool,
        signed: bool,
        is_half: bool,
        fraction_bits: u8,
    },
    /// Between a core register and a floating-point register.
    MoveWord {
        to_core: bool,
        t: u8,
        n: u8,
    },
    MovePair {
        to_core: bool,
        t: u8,
        t2: u8,
        m: u8,
    },
    ReadStatus {
        t: u8,
    },
    WriteStatus {
        t: u8,
    },
    Transfer {
        is_load: bool,
        n: u8,
        d: u8,
        words: u8,
        offset: u32,
    },
    TransferMany {
        is_load: bool,
        n: u8,
        d: u8,
        words: u8,
        writes_back: bool,
        descends: bool,
    },
}
