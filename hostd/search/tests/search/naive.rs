//! The same searches on expanded samples, sample by sample.

use decode::{Annotation, Value};

#[path = "../../../decode/tests/support/naive.rs"]
#[allow(dead_code, reason = "the tests of the decoders use all of it")]
pub(crate) mod decoders;

pub(crate) type Ranges = Vec<(u64, u64)>;

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Kind {
    Rising,
    Falling,
    Any,
}

/// Samples of one byte, and where to look.
pub(crate) struct Expanded<'s> {
    pub(crate) samples: &'s [u8],
    pub(crate) from: usize,
    pub(crate) to: usize,
}

impl Expanded<'_> {
    fn level(&self, channel: usize, at: usize) -> bool {
        self.samples[at] >> channel & 1 != 0
    }

    fn is_edge(&self, channel: usize, at: usize, kind: Kind) -> bool {
        if at == 0 {
            return false;
        }
        let (before, now) = (self.level(channel, at - 1), self.level(channel, at));
        match kind {
            Kind::Rising => !before && now,
            Kind::Falling => before && !now,
            Kind::Any => before != now,
        }
    }

    pub(crate) fn edges(&self, channel: usize, kind: Kind) -> Vec<usize> {
        let all = self.from..self.to;
        all.filter(|&at| self.is_edge(channel, at, kind)).collect()
    }

    pub(crate) fn pulses(
        &self,
        channel: usize,
        level: Option<bool>,
        is_wrong: impl Fn(usize) -> bool,
    ) -> Ranges {
        let edges = self.edges(channel, Kind::Any);
        let pairs = edges.windows(2).map(|pair| (pair[0], pair[1]));
        pairs
            .filter(|(from, to)| is_wrong(to - from))
            .filter(|(from, _)| level.is_none_or(|level| self.level(channel, *from) == level))
            .map(range)
            .collect()
    }

    /// Stretches whose first sample may be an edge, and no other one is.
    pub(crate) fn gaps(&self, channels: &[usize], kind: Kind, least: f64) -> Ranges {
        let mut found = Vec::new();
        let mut from = self.from;
        for at in self.from + 1..=self.to {
            let is_end = at == self.to || channels.iter().any(|&c| self.is_edge(c, at, kind));
            if is_end {
                if (at - from) as f64 >= least {
                    found.push(range((from, at)));
                }
                from = at;
            }
        }
        found
    }

    pub(crate) fn levels(&self, channel: usize, level: bool, least: f64) -> Ranges {
        let mut found = Vec::new();
        let mut at = self.from;
        while at < self.to {
            let end = (at..self.to)
                .find(|&next| self.level(channel, next) != self.level(channel, at))
                .unwrap_or(self.to);
            if self.level(channel, at) == level && (end - at) as f64 >= least {
                found.push(range((at, end)));
            }
            at = end;
        }
        found
    }

    /// Each edge of one kind against all of another.
    pub(crate) fn near(
        &self,
        (channel, kind): (usize, Kind),
        (other, other_kind): (usize, Kind),
        side: &str,
        is_not: bool,
        most: f64,
    ) -> Ranges {
        let others = self.edges(other, other_kind);
        let mut found = Vec::new();
        for at in self.edges(channel, kind) {
            let fits = |other_at: &&usize| {
                let is_itself = other == channel && **other_at == at;
                let is_side = match side {
                    "after" => **other_at <= at,
                    "before" => at <= **other_at,
                    _ => true,
                };
                !is_itself && is_side && other_at.abs_diff(at) as f64 <= most
            };
            let nearest = others.iter().filter(fits);
            let nearest = nearest.min_by_key(|other_at| other_at.abs_diff(at));
            match (nearest, is_not) {
                (Some(&other_at), false) => {
                    found.push(range((at.min(other_at), at.max(other_at) + 1)));
                }
                (None, true) => found.push(range((at, at + 1))),
                _ => {}
            }
        }
        found
    }
}

fn range((from, to): (usize, usize)) -> (u64, u64) {
    (from as u64, to as u64)
}

/// Addresses of an I²C bus with their answers: where, address, whether it is read, what is said.
pub(crate) fn addresses(notes: &[Annotation]) -> Vec<(u64, u64, u64, bool, Option<bool>)> {
    let mut found = Vec::new();
    for (index, note) in notes.iter().enumerate() {
        let (6 | 7, Value::Number(address)) = (note.class, &note.value) else {
            continue;
        };
        let answer = notes[index + 1..]
            .iter()
            .find(|next| matches!(next.class, 0..=4 | 6..=9));
        let answer = answer.filter(|next| matches!(next.class, 3 | 4));
        let end = answer.map_or(note.end, |answer| answer.end);
        let said = answer.map(|answer| answer.class == 3);
        found.push((note.start, end, *address, note.class == 6, said));
    }
    found
}

/// Sequences of words of these classes, with others that end a sequence.
pub(crate) fn sequences(
    notes: &[Annotation],
    words: &[u8],
    ends: &[u8],
    pattern: &[Option<u8>],
) -> Ranges {
    let mut found = Vec::new();
    let mut seen: Vec<(u64, u64, u64)> = Vec::new();
    for note in notes {
        if ends.contains(&note.class) {
            seen.clear();
        }
        let (true, Value::Number(word)) = (words.contains(&note.class), &note.value) else {
            continue;
        };
        seen.push((*word, note.start, note.end));
        if seen.len() < pattern.len() {
            continue;
        }
        let last = &seen[seen.len() - pattern.len()..];
        let is_it = last
            .iter()
            .zip(pattern)
            .all(|((word, _, _), wanted)| match wanted {
                Some(wanted) => u64::from(*wanted) == *word,
                None => true,
            });
        if is_it {
            found.push((last[0].1, note.end));
        }
    }
    found
}
