//! The kinds of things that operations do: what distinguishes instructions of one form.

/// Whether an instruction sets the condition flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::armv7m) enum Flags {
    Keep,
    Set,
    /// As most 16-bit instructions: unless it is in an IT block.
    SetOutsideBlock,
}

/// Operations of the arithmetic and logic unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::armv7m) enum Alu {
    And,
    BitClear,
    Or,
    OrNot,
    ExclusiveOr,
    Move,
    MoveNot,
    Test,
    TestEqual,
    Add,
    AddCarry,
    SubtractCarry,
    Subtract,
    ReverseSubtract,
    Compare,
    CompareNegative,
}

/// The carry that an expanded constant leaves, if a logical operation sets flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::armv7m) enum ConstantCarry {
    Keep,
    Clear,
    Set,
}

/// What one register of a load or store moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::armv7m) enum Access {
    Byte,
    SignedByte,
    Half,
    SignedHalf,
    Word,
}

/// How a load or store uses and changes its base register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::armv7m) enum Index {
    Offset,
    PreIndexed,
    PostIndexed,
    /// With the rights of unprivileged code (LDRT and so on).
    Unprivileged,
}

/// A 32-bit result of a multiplication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::armv7m) enum Product {
    /// a + n * m.
    Add,
    /// a - n * m.
    Subtract,
    /// SMLA: half words, chosen by two bits; bit 1 for the first factor.
    Halves(u8),
    /// SMLAW: a word and a half word.
    WordByHalf(bool),
    /// SMLAD, SMLADX: two products of half words, added.
    DualAdd(bool),
    /// SMLSD, SMLSDX.
    DualSubtract(bool),
    /// SMMLA, SMMLAR: the high word of the product, rounded or not.
    High(bool),
    /// SMMLS, SMMLSR.
    HighSubtract(bool),
}

/// A 64-bit result of a multiplication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::armv7m) enum LongProduct {
    Signed,
    Unsigned,
    SignedAdd,
    UnsignedAdd,
    /// UMAAL: both accumulators are words.
    UnsignedAddBoth,
    Halves(u8),
    DualAdd(bool),
    DualSubtract(bool),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::armv7m) enum Field {
    SignedExtract,
    UnsignedExtract,
    /// BFI; BFC if the source is the program counter.
    Insert,
}

/// What is extended to a word: the parts of the rotated source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::armv7m) enum Extension {
    SignedHalf,
    UnsignedHalf,
    SignedByte,
    UnsignedByte,
    SignedBytes,
    UnsignedBytes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::armv7m) enum Reversal {
    Bytes,
    BytesOfHalves,
    SignedHalf,
    Bits,
    LeadingZeros,
}

/// What the parallel operations compute in each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::armv7m) enum Lanes {
    AddHalves,
    AddSubtractHalves,
    SubtractAddHalves,
    SubtractHalves,
    AddBytes,
    SubtractBytes,
}

/// What becomes of each lane's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::armv7m) enum LaneResult {
    /// Truncated; the GE flags tell more.
    Plain,
    Saturated,
    Halved,
}

/// The saturating additions of whole words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::armv7m) struct SaturatingAdd {
    pub(in crate::armv7m) doubles: bool,
    pub(in crate::armv7m) subtracts: bool,
}
