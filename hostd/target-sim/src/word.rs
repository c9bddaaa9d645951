//! Names for parts of words: registers are 32 bits wide, but their fields are not.

/// Bits 7 to 0.
pub(crate) const fn low_byte(value: u32) -> u8 {
    value.to_le_bytes()[0]
}

/// Bits 15 to 0.
pub(crate) const fn low_half(value: u32) -> u16 {
    let [a, b, ..] = value.to_le_bytes();
    u16::from_le_bytes([a, b])
}

/// Bits 31 to 0.
pub(crate) const fn low_word(value: u64) -> u32 {
    let [a, b, c, d, ..] = value.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// One bit as a Boolean.
pub(crate) const fn bit(value: u32, number: u32) -> bool {
    value >> number & 1 == 1
}

/// The low `bits` bits of `value` as a signed number, widened to 32 bits.
pub(crate) const fn sign_extend(value: u32, bits: u32) -> u32 {
    let unused = 32 - bits;
    ((value << unused).cast_signed() >> unused).cast_unsigned()
}
