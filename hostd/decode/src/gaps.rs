//! Samples that a capture lost on their way, and what is left to look at between them.

use std::ops::Range;

/// Ranges of samples that were lost, ascending and apart. They are stored with the levels of the sample before them, which
/// says nothing about what happened in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gaps(Vec<Range<u64>>);

/// What a range of samples consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Samples that are there.
    Known {
        /// Which.
        range: Range<u64>,
        /// From this sample on they are known without a break; 0 for those of a capture without gaps before.
        since: u64,
    },
    /// Samples that were lost.
    Lost(Range<u64>),
}

impl Gaps {
    /// From one sample up to another, in order; what is empty or out of order is left out.
    pub fn new(gaps: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let mut found: Vec<Range<u64>> = Vec::new();
        for (from, to) in gaps {
            let end = found.last().map_or(0, |last| last.end);
            if end <= from && from < to {
                found.push(from..to);
            }
        }
        Self(found)
    }

    /// Whether nothing was lost.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What of a range was lost, in order.
    pub fn within(&self, range: &Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let first = self.0.partition_point(|gap| gap.end <= range.start);
        let range = range.clone();
        let behind = self.0[first..].iter();
        let cut = behind.map_while(move |gap| {
            (gap.start < range.end).then(|| gap.start.max(range.start)..gap.end.min(range.end))
        });
        cut.filter(|gap| !gap.is_empty())
    }

    /// The parts of a range, in order.
    ///
    /// The first sample behind a gap only says which levels there are: whether there was an edge at it is not known, so that a
    /// known part begins with the sample after it.
    pub fn parts(&self, range: &Range<u64>) -> Vec<Part> {
        let before = self.0.partition_point(|gap| gap.end <= range.start);
        let mut since = before.checked_sub(1).map_or(0, |last| self.0[last].end);
        let mut at = range.start;
        let mut parts = Vec::new();
        let known = |at: u64, since: u64, end: u64| Part::Known {
            range: at.max(first_known(since))..end,
            since,
        };
        for gap in self.within(range) {
            if at.max(first_known(since)) < gap.start {
                parts.push(known(at, since, gap.start));
            }
            (at, since) = (gap.end, gap.end);
            parts.push(Part::Lost(gap));
        }
        if at.max(first_known(since)) < range.end || parts.is_empty() {
            parts.push(known(at, since, range.end.max(at.max(first_known(since)))));
        }
        parts
    }
}

/// The first sample of which it is known whether it has an edge.
fn first_known(since: u64) -> u64 {
    match since {
        0 => 0,
        since => since + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::{Gaps, Part};

    fn known(from: u64, to: u64, since: u64) -> Part {
        Part::Known {
            range: from..to,
            since,
        }
    }

    #[test]
    fn without_gaps_there_is_one_part() {
        let gaps = Gaps::default();
        assert_eq!(gaps.parts(&(3..9)), [known(3, 9, 0)]);
        assert_eq!(gaps.parts(&(3..3)), [known(3, 3, 0)]);
    }

    #[test]
    fn parts_lie_between_gaps() {
        let gaps = Gaps::new([(10, 20), (21, 22), (30, 40)]);
        assert_eq!(
            gaps.parts(&(0..50)),
            [
                known(0, 10, 0),
                Part::Lost(10..20),
                // Of sample 20 only the levels are known.
                Part::Lost(21..22),
                known(23, 30, 22),
                Part::Lost(30..40),
                known(41, 50, 40),
            ]
        );
        assert_eq!(gaps.parts(&(22..30)), [known(23, 30, 22)]);
        assert_eq!(gaps.parts(&(25..30)), [known(25, 30, 22)]);
        assert_eq!(
            gaps.parts(&(35..45)),
            [Part::Lost(35..40), known(41, 45, 40)]
        );
        assert_eq!(gaps.parts(&(32..35)), [Part::Lost(32..35)]);
        assert_eq!(gaps.parts(&(0..10)), [known(0, 10, 0)]);
    }

    #[test]
    fn what_is_out_of_order_is_left_out() {
        let gaps = Gaps::new([(5, 5), (10, 20), (15, 30), (20, 21)]);
        let lost: Vec<_> = gaps.within(&(0..100)).collect();
        assert_eq!(lost, [10..20, 20..21]);
        assert!(gaps.within(&(21..30)).next().is_none());
    }
}
