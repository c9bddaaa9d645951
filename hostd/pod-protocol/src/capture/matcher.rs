//! Looks for a trigger's condition in the levels of the logic channels, change by change and exact to a tick. A tick is
//! whatever the caller counts: a sample, or a nanosecond.

use super::{Condition, Edge, Length};

/// Nanoseconds of a second.
const SECOND_NS: u128 = 1_000_000_000;

/// A search that goes on from block to block. Once it has found something, it is over.
#[derive(Debug, Clone)]
pub struct Matcher {
    condition: Condition,
    /// The time of the condition, in ticks: pulses are shorter than that, or a level is held at its end.
    limit: u64,
    /// The word at the last tick that was seen.
    word: Option<u16>,
    /// Since when the level that counts is held, if that may still count.
    since: Option<u64>,
}

impl Matcher {
    /// A search in levels of which `rate_hz` ticks are a second.
    pub fn new(condition: Condition, rate_hz: u64) -> Self {
        let scaled = |ns: u64| u128::from(ns) * u128::from(rate_hz);
        let up = |ns| saturated(scaled(ns).div_ceil(SECOND_NS));
        let limit = match condition {
            Condition::Pulse {
                length: Length::ShorterThan(ns),
                ..
            } => up(ns),
            Condition::Pulse {
                length: Length::LongerThan(ns),
                ..
            } => saturated(scaled(ns) / SECOND_NS),
            Condition::Level { for_ns, .. } => up(for_ns),
            Condition::Edge { .. } | Condition::Pattern { .. } => 0,
        };
        Self {
            condition,
            limit,
            word: None,
            since: None,
        }
    }

    /// What is looked for.
    pub fn condition(&self) -> Condition {
        self.condition
    }

    /// Takes the changes of a block, which ends before tick `upto`: the word that holds from each tick on, ascending. The
    /// first word ever counts from its tick on; a later block need not repeat the word that holds. Returns the tick at
    /// which the condition was met first.
    pub fn block(&mut self, changes: &[(u64, u16)], upto: u64) -> Option<u64> {
        let mut each = changes.iter();
        let met = each.find_map(|(at, word)| self.word(*at, *word));
        met.or_else(|| self.upto(upto))
    }

    /// The word from tick `at` on.
    pub fn word(&mut self, at: u64, word: u16) -> Option<u64> {
        let held = self.upto(at);
        if held.is_some() {
            return held;
        }
        let before = self.word.replace(word);
        let bit = self.condition.channels();
        let (is_high, was_high) = (word & bit != 0, before.map(|before| before & bit != 0));
        let is_met = match self.condition {
            Condition::Edge { edge, .. } => match edge {
                Edge::Rising => was_high == Some(false) && is_high,
                Edge::Falling => was_high == Some(true) && !is_high,
                Edge::High => is_high,
                Edge::Low => !is_high,
            },
            Condition::Pattern { channels, levels } => word & channels == levels,
            Condition::Pulse {
                is_high: wanted,
                length,
                ..
            } => {
                let begins = is_high == wanted && was_high == Some(!wanted);
                if is_high == wanted {
                    self.since = if begins { Some(at) } else { self.since };
                    false
                } else {
                    let since = self.since.take();
                    let is_short = since.is_some_and(|since| at - since < self.limit);
                    is_short && matches!(length, Length::ShorterThan(_))
                }
            }
            Condition::Level {
                is_high: wanted, ..
            } => {
                self.since = match is_high == wanted {
                    true => self.since.or(Some(at)),
                    false => None,
                };
                false
            }
        };
        is_met.then_some(at)
    }

    /// The word that holds does so through the tick before `end`.
    pub fn upto(&mut self, end: u64) -> Option<u64> {
        let is_held = match self.condition {
            Condition::Pulse { length, .. } => matches!(length, Length::LongerThan(_)),
            Condition::Level { .. } => true,
            Condition::Edge { .. } | Condition::Pattern { .. } => false,
        };
        let since = self.since.filter(|_| is_held)?;
        let met = since.checked_add(self.limit).filter(|met| *met < end)?;
        self.since = None;
        Some(met)
    }
}

fn saturated(ticks: u128) -> u64 {
    u64::try_from(ticks).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    //! The search agrees with the definition of each condition, sample by sample, however the samples are cut into blocks.

    use super::*;

    /// The first sample at which a condition is met, by its definition. Times are samples of a microsecond.
    fn naive(condition: Condition, words: &[u16]) -> Option<u64> {
        let bit = condition.channels();
        let high = |at: usize| words[at] & bit != 0;
        // Where the level that sample `at` has began, and whether that was an edge.
        let began = |at: usize| {
            let other = (0..at).rev().find(|before| high(*before) != high(at));
            (other.map_or(0, |other| other + 1), other.is_some())
        };
        let ns = |samples: usize| samples as u64 * 1_000;
        let is_met = |at: usize| match condition {
            Condition::Edge { edge, .. } => match edge {
                Edge::Rising => at > 0 && !high(at - 1) && high(at),
                Edge::Falling => at > 0 && high(at - 1) && !high(at),
                Edge::High => high(at),
                Edge::Low => !high(at),
            },
            Condition::Pattern { channels, levels } => words[at] & channels == levels,
            Condition::Level {
                is_high, for_ns, ..
            } => high(at) == is_high && ns(at - began(at).0) >= for_ns,
            Condition::Pulse {
                is_high,
                length: Length::ShorterThan(most),
                ..
            } => {
                let ends = at > 0 && high(at) != is_high && high(at - 1) == is_high;
                ends && began(at - 1).1 && ns(at - began(at - 1).0) < most
            }
            Condition::Pulse {
                is_high,
                length: Length::LongerThan(least),
                ..
            } => {
                // One sample more would make it longer than it is known to be now.
                let (from, is_edge) = began(at);
                high(at) == is_high && is_edge && ns(at + 1 - from) > least
            }
        };
        (0..words.len()).find(|at| is_met(*at)).map(|at| at as u64)
    }

    fn any_condition(random: &mut fastrand::Rng) -> Condition {
        let channel = random.u8(1..=3);
        let is_high = random.bool();
        let ns = random.u64(1..12_000);
        match random.u8(..5) {
            0 => {
                let edges = [Edge::Rising, Edge::Falling, Edge::High, Edge::Low];
                Condition::edge(channel, edges[random.usize(..4)])
            }
            1 => {
                let channels = random.u16(1..8);
                Condition::Pattern {
                    channels,
                    levels: random.u16(..8) & channels,
                }
            }
            2 => Condition::Level {
                channel,
                is_high,
                for_ns: ns,
            },
            kind => Condition::Pulse {
                channel,
                is_high,
                length: match kind {
                    3 => Length::ShorterThan(ns),
                    _ => Length::LongerThan(ns),
                },
            },
        }
    }

    #[test]
    fn any_condition_is_met_where_its_definition_says() {
        let mut random = fastrand::Rng::with_seed(32);
        let mut met = [0_u32; 2];
        for _ in 0..20_000 {
            let condition = any_condition(&mut random);
            let still = random.u32(1..12);
            let mut word = random.u16(..8);
            let words: Vec<u16> = (0..random.usize(1..80))
                .map(|_| {
                    if random.u32(..still) == 0 {
                        word = random.u16(..8);
                    }
                    word
                })
                .collect();
            let expected = naive(condition, &words);
            let mut matcher = Matcher::new(condition, 1_000_000);
            let (mut at, mut found, mut last) = (0, None, None);
            while at < words.len() && found.is_none() {
                let end = (at + random.usize(1..30)).min(words.len());
                let mut changes = Vec::new();
                for (index, word) in words.iter().enumerate().take(end).skip(at) {
                    // Sometimes the word that holds is repeated.
                    if last != Some(*word) || random.u8(..8) == 0 {
                        changes.push((index as u64, *word));
                    }
                    last = Some(*word);
                }
                found = matcher.block(&changes, end as u64);
                at = end;
            }
            assert_eq!(found, expected, "{condition:?} in {words:?}");
            met[usize::from(found.is_some())] += 1;
        }
        assert!(met.iter().all(|times| *times > 3_000), "{met:?}");
    }

    #[test]
    fn times_between_two_ticks_are_rounded_so_that_the_condition_holds() {
        let long = |ns| {
            let condition = Condition::Pulse {
                channel: 1,
                is_high: true,
                length: Length::LongerThan(ns),
            };
            let mut matcher = Matcher::new(condition, 1_000_000);
            matcher.block(&[(0, 0), (10, 1)], 1_000)
        };
        // Three samples are longer than 2.5 µs, two are not longer than 2 µs.
        assert_eq!(long(2_500), Some(12));
        assert_eq!(long(2_000), Some(12));
        assert_eq!(long(999), Some(10));
    }
}
