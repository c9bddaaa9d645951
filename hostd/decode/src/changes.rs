//! Where raw samples change, for callers that need edges rather than a protocol.

/// Bytes compared at a time while nothing changes.
const SKIP: usize = 64;

/// Calls `change` with the index and the masked word of every sample that differs from the one
/// before it; `last` stands for the sample before the first. Returns the last sample's masked word.
pub(crate) fn each_change<E>(
    raw: &[u8],
    unit: usize,
    mask: u64,
    last: u64,
    mut change: impl FnMut(u64, u64) -> Result<(), E>,
) -> Result<u64, E> {
    let mut last = last;
    let step = SKIP / unit * unit;
    for (number, block) in raw.chunks(step).enumerate() {
        let is_quiet = match unit {
            1 => is_quiet::<1>(block, mask, last),
            2 => is_quiet::<2>(block, mask, last),
            4 => is_quiet::<4>(block, mask, last),
            _ => false,
        };
        if is_quiet {
            continue;
        }
        let first = number * (step / unit);
        for (index, sample) in block.chunks_exact(unit).enumerate() {
            let word = word(sample) & mask;
            if word != last {
                last = word;
                change((first + index) as u64, word)?;
            }
        }
    }
    Ok(last)
}

/// A sample of 1..=8 bytes as a number.
#[inline(always)]
pub(crate) fn word(sample: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    bytes[..sample.len()].copy_from_slice(sample);
    u64::from_le_bytes(bytes)
}

/// Written so that the compiler turns it into SIMD.
#[inline(always)]
fn is_quiet<const UNIT: usize>(block: &[u8], mask: u64, last: u64) -> bool {
    let (mask, last) = (mask.to_le_bytes(), last.to_le_bytes());
    let mut moved = 0;
    for sample in block.as_chunks::<UNIT>().0 {
        for index in 0..UNIT {
            moved |= (sample[index] & mask[index]) ^ last[index];
        }
    }
    moved == 0
}
