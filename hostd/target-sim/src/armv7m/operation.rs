//! What an instruction does, after decoding: one operation may have several encodings. Registers are their
//! numbers.

mod kinds;

use crate::alu::Shift;
use crate::armv7m::float::Float;
pub(super) use kinds::{
    Access, Alu, ConstantCarry, Extension, Field, Flags, Index, LaneResult, Lanes, LongProduct,
    Product, Reversal, SaturatingAdd,
};

/// One decoded instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Undefined,
    NoCoprocessor,
    Hint(u8),
    Barrier,
    Breakpoint,
    Supervisor,
    IfThen(u8),
    ChangeState {
        disable: bool,
        primask: bool,
        faultmask: bool,
    },
    ReadSpecial {
        d: u8,
        number: u8,
    },
    WriteSpecial {
        n: u8,
        number: u8,
        mask: u8,
    },

    Constant {
        op: Alu,
        flags: Flags,
        carry: ConstantCarry,
        d: u8,
        n: u8,
        value: u32,
    },
    Shifted {
        op: Alu,
        flags: Flags,
        d: u8,
        n: u8,
        m: u8,
        shift: Shift,
        amount: u8,
    },
    /// Rotation through the carry by one.
    RotatedWithCarry {
        op: Alu,
        flags: Flags,
        d: u8,
        n: u8,
        m: u8,
    },
    ShiftByRegister {
        shift: Shift,
        flags: Flags,
        d: u8,
        n: u8,
        m: u8,
    },
    /// The 16-bit ADD and MOV of any registers, CMP likewise: the program counter may take part.
    AddAny {
        d: u8,
        m: u8,
    },
    MoveAny {
        d: u8,
        m: u8,
    },
    CompareAny {
        n: u8,
        m: u8,
    },
    /// An address relative to this instruction's: `ahead` more than the next one's.
    Address {
        d: u8,
        ahead: u8,
        offset: u32,
    },
    MoveTop {
        d: u8,
        value: u16,
    },

    Branch {
        offset: u32,
    },
    BranchIf {
        condition: u8,
        offset: u32,
    },
    BranchLink {
        offset: u32,
    },
    BranchExchange {
        m: u8,
    },
    BranchLinkExchange {
        m: u8,
    },
    CompareBranch {
        n: u8,
        nonzero: bool,
        offset: u8,
    },
    TableBranch {
        n: u8,
        m: u8,
        halves: bool,
    },

    Load {
        access: Access,
        index: Index,
        t: u8,
        n: u8,
        offset: u32,
    },
    LoadIndexed {
        access: Access,
        t: u8,
        n: u8,
        m: u8,
        amount: u8,
    },
    LoadLiteral {
        access: Access,
        t: u8,
        ahead: u8,
        offset: u32,
    },
    Store {
        access: Access,
        index: Index,
        t: u8,
        n: u8,
        offset: u32,
    },
    StoreIndexed {
        access: Access,
        t: u8,
        n: u8,
        m: u8,
        amount: u8,
    },
    LoadPair {
        index: Index,
        t: u8,
        t2: u8,
        n: u8,
        offset: u32,
    },
    StorePair {
        index: Index,
        t: u8,
        t2: u8,
        n: u8,
        offset: u32,
    },
    LoadMany {
        n: u8,
        list: u16,
        writes_back: bool,
        descends: bool,
    },
    StoreMany {
        n: u8,
        list: u16,
        writes_back: bool,
        descends: bool,
    },
    LoadExclusive {
        access: Access,
        t: u8,
        n: u8,
        offset: u16,
    },
    StoreExclusive {
        access: Access,
        d: u8,
        t: u8,
        n: u8,
        offset: u16,
    },
    ClearExclusive,

    Multiply {
        kind: Product,
        flags: Flags,
        d: u8,
        n: u8,
        m: u8,
        a: u8,
    },
    MultiplyLong {
        kind: LongProduct,
        low: u8,
        high: u8,
        n: u8,
        m: u8,
    },
    Divide {
        signed: bool,
        d: u8,
        n: u8,
        m: u8,
    },
    BitField {
        kind: Field,
        d: u8,
        n: u8,
        low: u8,
        width: u8,
    },
    Extend {
        kind: Extension,
        d: u8,
        /// Added, unless it is the program counter.
        n: u8,
        m: u8,
        rotation: u8,
    },
    Reverse {
        kind: Reversal,
        d: u8,
        m: u8,
    },
    Pack {
        takes_top: bool,
        d: u8,
        n: u8,
        m: u8,
        amount: u8,
    },
    Select {
        d: u8,
        n: u8,
        m: u8,
    },
    Saturate {
        signed: bool,
        d: u8,
        n: u8,
        bits: u8,
        shift: Shift,
        amount: u8,
    },
    SaturateHalves {
        signed: bool,
        d: u8,
        n: u8,
        bits: u8,
    },
    AddSaturating {
        kind: SaturatingAdd,
        d: u8,
        n: u8,
        m: u8,
    },
    Parallel {
        lanes: Lanes,
        result: LaneResult,
        signed: bool,
        d: u8,
        n: u8,
        m: u8,
    },
    SumOfDifferences {
        d: u8,
        n: u8,
        m: u8,
        a: u8,
    },

    Float(Float),
}

impl Operation {
    /// The register that the result goes to, for operations whose result may not go to the program counter.
    pub(super) fn destination(self) -> Option<u8> {
        match self {
            Self::Constant { op, d, .. }
            | Self::Shifted { op, d, .. }
            | Self::RotatedWithCarry { op, d, .. } => {
                let compares = matches!(
                    op,
                    Alu::Test | Alu::TestEqual | Alu::Compare | Alu::CompareNegative
                );
                (!compares).then_some(d)
            }
            Self::ReadSpecial { d, .. }
            | Self::ShiftByRegister { d, .. }
            | Self::MoveTop { d, .. }
            | Self::Multiply { d, .. }
            | Self::Divide { d, .. }
            | Self::BitField { d, .. }
            | Self::Extend { d, .. }
            | Self::Reverse { d, .. }
            | Self::Pack { d, .. }
            | Self::Select { d, .. }
            | Self::Saturate { d, .. }
            | Self::SaturateHalves { d, .. }
            | Self::AddSaturating { d, .. }
            | Self::Parallel { d, .. }
            | Self::StoreExclusive { d, .. }
            | Self::SumOfDifferences { d, .. } => Some(d),
            Self::MultiplyLong { low, high, .. } => Some(low.max(high)),
            Self::LoadPair { t, t2, .. } => Some(t.max(t2)),
            Self::LoadExclusive { t, .. } => Some(t),
            _ => None,
        }
    }
}
