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
        if is_unchanged(block, unit, mask, last) {
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

/// Whether all samples of a block of them, masked, are `last`. Some sample sizes are not looked at: for these it is `false`.
#[inline(always)]
pub(crate) fn is_unchanged(block: &[u8], unit: usize, mask: u64, last: u64) -> bool {
    match unit {
        1 => is_quiet::<1>(block, mask, last),
        2 => is_quiet::<2>(block, mask, last),
        4 => is_quiet::<4>(block, mask, last),
        8 => is_quiet::<8>(block, mask, last),
        _ => false,
    }
}

/// Up to eight channels of a sample, gathered into one byte.
pub(crate) struct Taps8 {
    unit: usize,
    mask: u64,
    /// Bit number in the sample and in the byte.
    bits: Vec<(usize, usize)>,
}

impl Taps8 {
    /// Channels by their place in the byte, at most eight. A channel that is none, or past the sample's last bit, is low.
    pub(crate) fn new(unit: usize, channels: &[Option<usize>]) -> Self {
        let placed = channels.iter().enumerate();
        let bits: Vec<_> = placed
            .filter_map(|(place, channel)| Some(((*channel)?, place)))
            .filter(|(channel, _)| *channel < unit * 8)
            .collect();
        let mask = bits
            .iter()
            .fold(0, |mask, (channel, _)| mask | 1 << channel);
        Self { unit, mask, bits }
    }

    fn levels(&self, word: u64) -> u8 {
        let levels = self.bits.iter();
        levels.fold(0, |levels, (channel, place)| {
            levels | u8::from(word >> channel & 1 != 0) << place
        })
    }

    /// Passes on where samples change, the first of `raw` being number `at`; `last` is what the call before returned, none
    /// for the first samples, whose levels count as a change.
    pub(crate) fn changes<E>(
        &self,
        raw: &[u8],
        at: u64,
        last: Option<u64>,
        mut change: impl FnMut(u64, u8) -> Result<(), E>,
    ) -> Result<Option<u64>, E> {
        if raw.len() < self.unit {
            return Ok(last);
        }
        let last = match last {
            Some(last) => last,
            None => {
                let first = word(&raw[..self.unit]) & self.mask;
                change(at, self.levels(first))?;
                first
            }
        };
        each_change(raw, self.unit, self.mask, last, |index, word| {
            change(at + index, self.levels(word))
        })
        .map(Some)
    }
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
