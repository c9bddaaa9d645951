//! How an instrument's raw samples become the words of a pod: which of its bits is which channel.

use pod_protocol::LA_CHANNELS;

/// Bytes of the largest raw sample: instruments have at most 64 logic channels.
pub(crate) const UNIT_BYTES_MAX: usize = 8;

/// Which bits of a raw sample are LA1, LA2 and so on. Samples are little-endian.
#[derive(Debug, Clone)]
pub(crate) struct Wiring {
    unit: usize,
    /// The bits that matter.
    mask: u64,
    /// For each byte of a sample what its values contribute to the word.
    tables: Vec<[u16; 256]>,
    bits: Vec<usize>,
}

impl Wiring {
    /// Samples of `unit` bytes whose bits `bits` are LA1, LA2 and so on. `None` where these do not fit.
    pub(crate) fn new(unit: usize, bits: &[usize]) -> Option<Self> {
        let fits = (1..=UNIT_BYTES_MAX).contains(&unit)
            && bits.len() <= usize::from(LA_CHANNELS)
            && bits.iter().all(|bit| *bit < 8 * unit);
        if !fits {
            return None;
        }
        let all = Self {
            unit,
            mask: 0,
            tables: Vec::new(),
            bits: bits.to_vec(),
        };
        Some(all.only(u16::MAX))
    }

    /// The same for some of its channels, given as a word: the others are low, and nothing that they do matters.
    pub(crate) fn only(&self, channels: u16) -> Self {
        let (mut tables, mut mask) = (vec![[0; 256]; self.unit], 0);
        let wired = self.bits.iter().enumerate();
        for (channel, bit) in wired.filter(|(channel, _)| channels >> channel & 1 == 1) {
            mask |= 1 << bit;
            for (value, word) in tables[bit / 8].iter_mut().enumerate() {
                let is_high = value >> (bit % 8) & 1 == 1;
                *word |= u16::from(is_high) << channel;
            }
        }
        Self {
            unit: self.unit,
            mask,
            tables,
            bits: self.bits.clone(),
        }
    }

    /// Bytes of a sample.
    pub(crate) fn unit(&self) -> usize {
        self.unit
    }

    /// The bits of a sample that matter.
    pub(crate) fn mask(&self) -> u64 {
        self.mask
    }

    /// The bit of a channel, from 1.
    pub(crate) fn bit(&self, channel: u8) -> Option<usize> {
        self.bits.get(usize::from(channel).checked_sub(1)?).copied()
    }

    /// The word of a sample, whose bits are the lowest ones.
    pub(crate) fn word(&self, sample: u64) -> u16 {
        let bytes = sample.to_le_bytes();
        let part = |table: &[u16; 256], byte: u8| table[usize::from(byte)];
        match &self.tables[..] {
            [only] => part(only, bytes[0]),
            [low, high] => part(low, bytes[0]) | part(high, bytes[1]),
            tables => {
                let parts = tables.iter().zip(bytes);
                parts.fold(0, |word, (table, byte)| word | part(table, byte))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_take_the_bits_they_are_given() {
        let wiring = Wiring::new(2, &[9, 0, 3]).unwrap();
        for (sample, word) in [
            (0x0200, 0b001),
            (0x0001, 0b010),
            (0xFD08, 0b100),
            (0xFFFF, 0b111),
        ] {
            assert_eq!(wiring.word(sample), word, "{sample:#x}");
        }
        assert_eq!(wiring.mask(), 0b10_0000_1001);
        assert_eq!(wiring.bit(1), Some(9));
        assert_eq!([wiring.bit(0), wiring.bit(4)], [None, None]);
        let some = wiring.only(0b101);
        assert_eq!((some.word(0xFFFF), some.mask()), (0b101, 0b10_0000_1000));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(Wiring::new(0, &[]).is_none());
        assert!(Wiring::new(9, &[0]).is_none());
        assert!(Wiring::new(1, &[8]).is_none());
        assert!(Wiring::new(2, &[0; 15]).is_none());
        assert!(Wiring::new(8, &[63]).is_some());
    }
}
