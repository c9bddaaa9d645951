//! How many annotations there are in equal stretches of a range: what a view from afar shows of a decoding.

use crate::annotation::Annotation;
use std::ops::Range;

/// Most stretches.
pub const STRETCHES_MAX: usize = 10_000;

/// Counts annotations by their class and by where they begin.
#[derive(Clone, Debug)]
pub struct Density {
    range: Range<u64>,
    stretches: usize,
    /// For each class that was seen, the counts of all stretches.
    classes: Vec<Option<Vec<u32>>>,
}

impl Density {
    /// Nothing yet, in `stretches` of a range, at least one and at most [`STRETCHES_MAX`], each of at least a sample.
    #[must_use]
    pub fn new(range: Range<u64>, stretches: usize) -> Self {
        let samples = range.end.saturating_sub(range.start).max(1);
        let most = usize::try_from(samples).unwrap_or(usize::MAX);
        Self {
            stretches: stretches.clamp(1, STRETCHES_MAX).min(most),
            range,
            classes: Vec::new(),
        }
    }

    /// Counts some annotations. Those that begin out of the range count at its end.
    pub fn add(&mut self, annotations: &[Annotation]) {
        for annotation in annotations {
            let stretch = self.stretch(annotation.start);
            let class = usize::from(annotation.class);
            if self.classes.len() <= class {
                self.classes.resize(class + 1, None);
            }
            let counts = self.classes[class].get_or_insert_with(|| vec![0; self.stretches]);
            counts[stretch] = counts[stretch].saturating_add(1);
        }
    }

    /// Stretches of the range: as many as were asked for, unless it has fewer samples.
    #[must_use]
    pub fn stretches(&self) -> usize {
        self.stretches
    }

    /// The first sample of a stretch; of the one behind the last, the end of the range.
    #[must_use]
    pub fn start(&self, stretch: usize) -> u64 {
        let samples = self.range.end.saturating_sub(self.range.start);
        self.range.start + scaled(samples, stretch as u64, self.stretches as u64)
    }

    /// The classes that were seen, by their index in the decoder's list, and how many of each begin in each stretch.
    pub fn classes(&self) -> impl Iterator<Item = (usize, &[u32])> {
        let numbered = self.classes.iter().enumerate();
        numbered.filter_map(|(class, counts)| Some((class, counts.as_deref()?)))
    }

    fn stretch(&self, sample: u64) -> usize {
        let samples = self.range.end.saturating_sub(self.range.start).max(1);
        let offset = sample.saturating_sub(self.range.start).min(samples - 1);
        // The last stretch that does not begin behind it.
        let wide = (u128::from(offset) + 1) * self.stretches as u128;
        let stretch = wide.div_ceil(u128::from(samples)) - 1;
        usize::try_from(stretch).map_or(0, |stretch| stretch.min(self.stretches - 1))
    }
}

/// `samples * part / parts` without overflow.
fn scaled(samples: u64, part: u64, parts: u64) -> u64 {
    let scaled = u128::from(samples) * u128::from(part) / u128::from(parts.max(1));
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sample_is_in_the_stretch_that_begins_last_before_it() {
        for (from, to, stretches) in [
            (0, 10, 3),
            (7, 8, 5),
            (3, 1003, 7),
            (5, 6_000_000_005, 9999),
        ] {
            let density = Density::new(from..to, stretches);
            let count = density.stretches();
            assert_eq!((density.start(0), density.start(count)), (from, to));
            for stretch in 0..count {
                let (first, end) = (density.start(stretch), density.start(stretch + 1));
                assert!(first < end, "{from}..{to}: stretch {stretch} is empty");
                assert_eq!(density.stretch(first), stretch, "{from}..{to}");
                assert_eq!(density.stretch(end - 1), stretch, "{from}..{to}");
            }
        }
    }

    #[test]
    fn classes_are_counted_where_they_begin() {
        let mut density = Density::new(10..20, 5);
        let note = |start, class| Annotation::mark(start, start + 9, class);
        density.add(&[note(10, 2), note(11, 2), note(12, 0)]);
        density.add(&[note(9, 0), note(25, 0)]);
        let classes: Vec<_> = density.classes().collect();
        assert_eq!(
            classes,
            [(0, &[1, 1, 0, 0, 1][..]), (2, &[2, 0, 0, 0, 0][..])]
        );
    }
}
