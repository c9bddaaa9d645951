//! Changes of levels in the shapes that decoders from elsewhere take.

/// Longest distance that one entry has.
const DISTANCE_MAX: u64 = (1 << 24) - 1;

/// Changes as `distance << 8 | levels`.
#[derive(Debug, Default)]
pub(super) struct Packed {
    pub(super) data: Vec<u32>,
    /// The entry before: its sample and its levels.
    at: u64,
    levels: Option<u8>,
}

impl Packed {
    /// From sample `at` on, the levels are these. Adds one entry, or more if the one before is far away; the first levels
    /// are those of all samples before.
    #[inline]
    pub(super) fn push(&mut self, at: u64, levels: u8) {
        let before = self.levels.replace(levels).unwrap_or(levels);
        let mut distance = at - self.at;
        while DISTANCE_MAX < distance {
            self.data.push(entry(DISTANCE_MAX, before));
            distance -= DISTANCE_MAX;
        }
        self.data.push(entry(distance, levels));
        self.at = at;
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a distance has 24 bits here"
)]
#[inline]
fn entry(distance: u64, levels: u8) -> u32 {
    (distance as u32) << 8 | u32::from(levels)
}

/// Levels sample by sample.
#[derive(Debug, Default)]
pub(super) struct Samples {
    pub(super) data: Vec<u8>,
    /// Number of the first one.
    pub(super) start: u64,
    levels: u8,
}

impl Samples {
    /// None yet; the first one will have this number.
    pub(super) fn from(start: u64) -> Self {
        Self {
            start,
            ..Self::default()
        }
    }

    /// Number of the sample behind the last one.
    pub(super) fn end(&self) -> u64 {
        self.start + self.data.len() as u64
    }

    /// Repeat the levels up to sample `at`, or until there are `most` samples; whether all fit.
    pub(super) fn fill(&mut self, at: u64, most: usize) -> bool {
        let missing = usize::try_from(at - self.end()).unwrap_or(usize::MAX);
        let room = most - self.data.len();
        let count = missing.min(room);
        self.data.resize(self.data.len() + count, self.levels);
        count == missing
    }

    /// From the next sample on, the levels are these.
    pub(super) fn set(&mut self, levels: u8) {
        self.levels = levels;
    }

    /// Go on behind the samples there are.
    pub(super) fn clear(&mut self) {
        self.start = self.end();
        self.data.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_gaps_repeat_the_levels() {
        let mut packed = Packed::default();
        packed.push(0, 3);
        packed.push(5, 1);
        packed.push(5 + DISTANCE_MAX, 2);
        packed.push(5 + 2 * DISTANCE_MAX + 1, 0);
        let gap = 0xffff_ff00;
        assert_eq!(packed.data, [3, 0x501, gap | 2, gap | 2, 0x100]);
    }

    #[test]
    fn samples_are_filled_up_to_a_change() {
        let mut samples = Samples::default();
        samples.set(1);
        assert!(samples.fill(2, 4));
        samples.set(3);
        assert!(!samples.fill(7, 4));
        assert_eq!(samples.data, [1, 1, 3, 3]);
        samples.clear();
        assert!(samples.fill(7, 4));
        assert_eq!(
            (samples.start, samples.data.as_slice()),
            (4, &[3, 3, 3][..])
        );
    }
}
