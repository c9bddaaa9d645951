//! What a rule found so far: all counted, the worst kept. However many there are, memory stays small.

use std::cmp::Ordering;

use crate::finding::{Draft, Severity};

/// Most findings of a rule that are listed; the counts are of all.
pub const SHOWN_MAX: usize = 40;

/// How many are kept before the least bad are dropped: sorting now and then is cheaper than always.
const KEPT_MAX: usize = 8 * SHOWN_MAX;

/// Findings of one rule.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) critical: usize,
    pub(crate) warning: usize,
    pub(crate) info: usize,
    /// Those that the rules file decided about.
    pub(crate) suppressed: usize,
    kept: Vec<Draft>,
}

impl Found {
    /// Takes a finding in.
    pub(crate) fn add(&mut self, draft: Draft) {
        match draft.severity {
            Severity::Critical => self.critical += 1,
            Severity::Warning => self.warning += 1,
            Severity::Info => self.info += 1,
        }
        self.kept.push(draft);
        if KEPT_MAX <= self.kept.len() {
            self.prune();
        }
    }

    /// Both together.
    pub(crate) fn with(mut self, other: Self) -> Self {
        self.critical += other.critical;
        self.warning += other.warning;
        self.info += other.info;
        self.suppressed += other.suppressed;
        self.kept.extend(other.kept);
        if KEPT_MAX <= self.kept.len() {
            self.prune();
        }
        self
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.critical + self.warning + self.info
    }

    /// The worst, in order.
    pub(crate) fn worst(mut self) -> Vec<Draft> {
        self.prune();
        self.kept
    }

    fn prune(&mut self) {
        self.kept.sort_by(order);
        self.kept.truncate(SHOWN_MAX);
    }
}

/// The worst first. Findings that are equal in it are equal in a report, so that threads and their order do not matter.
fn order(x: &Draft, y: &Draft) -> Ordering {
    // In millionths: what rounding leaves of equal measures puts none of them first.
    let excess = |draft: &Draft| (draft.excess() * 1e6).round();
    (x.severity.cmp(&y.severity))
        .then(excess(y).total_cmp(&excess(x)))
        // Nets are in the order of their names.
        .then(x.net.cmp(&y.net))
        .then(x.layer.cmp(&y.layer))
        .then(x.footprint.cmp(&y.footprint))
        .then_with(|| x.title.cmp(&y.title))
        .then(x.at.order(y.at))
        .then_with(|| x.detail.cmp(&y.detail))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Point;

    fn draft(value: u32) -> Draft {
        let severity = if value.is_multiple_of(3) {
            Severity::Warning
        } else {
            Severity::Info
        };
        let at = Point::new(f64::from(value), 0.0);
        Draft::new(severity, at, "", "").measure(f64::from(value), 1.0, "mm")
    }

    #[test]
    fn the_worst_are_kept_and_all_are_counted_in_any_order() {
        let mut random = fastrand::Rng::with_seed(2);
        let mut first: Option<Vec<u32>> = None;
        for parts in [1, 2, 7] {
            let mut values: Vec<u32> = (1..5000).collect();
            random.shuffle(&mut values);
            let of_part = |part: usize| {
                let mut found = Found::default();
                values
                    .iter()
                    .skip(part)
                    .step_by(parts)
                    .for_each(|value| found.add(draft(*value)));
                found
            };
            let found = (0..parts).map(of_part).reduce(Found::with).unwrap();
            assert_eq!(
                (found.warning, found.info, found.count()),
                (1666, 3333, 4999)
            );
            assert!(found.kept.len() < 2 * KEPT_MAX);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "they are small whole numbers"
            )]
            let worst: Vec<u32> = found
                .worst()
                .iter()
                .map(|draft| draft.at.x as u32)
                .collect();
            assert_eq!((worst.len(), worst[0], worst[39]), (SHOWN_MAX, 4998, 4881));
            assert_eq!(first.get_or_insert_with(|| worst.clone()), &worst);
        }
    }
}
