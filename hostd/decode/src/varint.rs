//! Variable-length integers: seven bits per byte, lowest first; the top bit means that more follow.

/// Length of the longest varint, in bytes.
const LENGTH_MAX: usize = 10;

/// Appends `value`.
pub(crate) fn push(out: &mut Vec<u8>, mut value: u64) {
    loop {
        let [low, ..] = value.to_le_bytes();
        value >>= 7;
        if value == 0 {
            return out.push(low);
        }
        out.push(low | 0x80);
    }
}

/// Takes a value off the front of `bytes`; `None` if it is truncated or longer than a `u64`.
#[inline]
pub(crate) fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for (index, byte) in bytes.iter().take(LENGTH_MAX).enumerate() {
        let part = u64::from(byte & 0x7f);
        let shifted = part << (7 * index);
        if shifted >> (7 * index) != part {
            return None;
        }
        value |= shifted;
        if byte & 0x80 == 0 {
            *bytes = &bytes[index + 1..];
            return Some(value);
        }
    }
    None
}
