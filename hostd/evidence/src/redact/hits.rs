//! Which bytes of a stream belong to secrets.

/// Ranges of a stream, in order, none of which overlaps another one.
#[derive(Debug, Default)]
pub(super) struct Hits(Vec<(u64, u64)>);

impl Hits {
    /// Adds a range, and what lies between it and others that it overlaps. Few have a later end.
    pub(super) fn add(&mut self, mut start: u64, mut end: u64) {
        // What is found at byte after byte only makes the last range longer.
        if let Some((from, to)) = self.0.last_mut()
            && (*from..*to).contains(&start)
        {
            *to = end.max(*to);
            return;
        }
        let behind = self.0.iter().rev().take_while(|(from, _)| *from >= end);
        let mut at = self.0.len() - behind.count();
        while at > 0 && self.0[at - 1].1 > start {
            at -= 1;
            let (from, to) = self.0.remove(at);
            (start, end) = (start.min(from), end.max(to));
        }
        self.0.insert(at, (start, end));
    }

    /// The ranges.
    pub(super) fn ranges(&self) -> &[(u64, u64)] {
        &self.0
    }

    /// Forgets ranges that end at this place or before.
    pub(super) fn forget(&mut self, until: u64) {
        let gone = self.0.iter().take_while(|(_, end)| *end <= until).count();
        self.0.drain(..gone);
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_overlaps_is_one_range() {
        let mut hits = Hits::default();
        for (start, end) in [
            (10, 20),
            (0, 5),
            (20, 25),
            (18, 21),
            (7, 8),
            (40, 50),
            (3, 9),
        ] {
            hits.add(start, end);
        }
        assert_eq!(hits.ranges(), [(0, 9), (10, 25), (40, 50)]);
        hits.add(4, 45);
        assert_eq!(hits.ranges(), [(0, 50)]);
        hits.forget(49);
        assert_eq!(hits.ranges(), [(0, 50)]);
        hits.forget(50);
        assert_eq!(hits.ranges(), []);
    }
}
