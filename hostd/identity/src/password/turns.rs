//! Who waits for a hash, and who is next. Places are few: the most suspect lose theirs first, and
//! among equals those from the source with the most waiting.

/// Hashes that may wait. Each holds a place among the requests in progress, so there are far fewer
/// than `handlers.in_flight_max`.
pub(super) const WAITING_MAX: usize = 16;

/// Hashes that may wait per source, unless it is known.
const PER_SOURCE_MAX: usize = 8;

/// How trustworthy a source is; lower is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// Signed in before.
    Known,
    /// Nothing is known against it.
    Fresh,
    /// Failed recently.
    Suspect,
}

/// For whom a hash is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) rank: Rank,
    /// Turns of one source share its places.
    pub(crate) source: u64,
}

impl Turn {
    /// For a caller that shows a credential.
    pub(crate) const KNOWN: Self = Self {
        rank: Rank::Known,
        source: 0,
    };
}

/// Waiting jobs, in order of arrival.
pub(super) struct Turns<J> {
    waiting: Vec<Waiting<J>>,
    /// Round of the job served last.
    round: u64,
}

struct Waiting<J> {
    turn: Turn,
    /// Each source has one turn in a round.
    round: u64,
    job: J,
}

impl<J> Turns<J> {
    pub(super) fn new() -> Self {
        Self {
            waiting: Vec::with_capacity(WAITING_MAX),
            round: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Add `job`. Returns the job for which there is no place, perhaps `job` itself.
    pub(super) fn enter(&mut self, turn: Turn, job: J) -> Option<J> {
        let of_source = self.of(turn.source).count();
        if turn.rank != Rank::Known && of_source >= PER_SOURCE_MAX {
            return Some(job);
        }
        let mut away = None;
        if self.waiting.len() >= WAITING_MAX {
            let Some(at) = self.worse_than((turn.rank, of_source + 1)) else {
                return Some(job);
            };
            away = Some(self.waiting.remove(at).job);
        }
        let last = self.of(turn.source).map(|w| w.round + 1).max();
        let round = last.unwrap_or(0).max(self.round);
        self.waiting.push(Waiting { turn, round, job });
        away
    }

    /// The next job: by rank, then the first of each source before the second of any.
    pub(super) fn next(&mut self) -> Option<J> {
        let waiting = self.waiting.iter().enumerate();
        let (at, _) = waiting.min_by_key(|(_, w)| (w.turn.rank, w.round))?;
        let next = self.waiting.remove(at);
        self.round = self.round.max(next.round);
        Some(next.job)
    }

    /// Drop the jobs of callers that are gone.
    pub(super) fn retain(&mut self, mut stays: impl FnMut(&J) -> bool) {
        self.waiting.retain(|w| stays(&w.job));
    }

    /// The job with the least claim to a place, by rank and by how many of its source wait.
    fn worse_than(&self, claim: (Rank, usize)) -> Option<usize> {
        let claims = self.waiting.iter().map(|w| {
            let of_source = self.of(w.turn.source).count();
            (w.turn.rank, of_source)
        });
        // The last of equals, which arrived last.
        let (at, worst) = claims.enumerate().max_by_key(|(_, claim)| *claim)?;
        (worst > claim).then_some(at)
    }

    fn of(&self, source: u64) -> impl Iterator<Item = &Waiting<J>> {
        self.waiting.iter().filter(move |w| w.turn.source == source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::seeded::Random;

    fn turn(rank: Rank, source: u64) -> Turn {
        Turn { rank, source }
    }

    #[test]
    fn the_known_come_first_and_sources_take_turns() {
        let mut turns = Turns::new();
        for (rank, source, job) in [
            (Rank::Suspect, 1, "suspect"),
            (Rank::Fresh, 2, "first of 2"),
            (Rank::Fresh, 2, "second of 2"),
            (Rank::Fresh, 3, "first of 3"),
            (Rank::Known, 4, "known"),
        ] {
            assert_eq!(turns.enter(turn(rank, source), job), None);
        }
        let order: Vec<_> = std::iter::from_fn(|| turns.next()).collect();
        assert_eq!(
            order,
            [
                "known",
                "first of 2",
                "first of 3",
                "second of 2",
                "suspect"
            ]
        );
    }

    #[test]
    fn a_source_has_few_places() {
        let mut turns = Turns::new();
        for job in 0..PER_SOURCE_MAX {
            assert_eq!(turns.enter(turn(Rank::Fresh, 1), job), None);
        }
        assert_eq!(turns.enter(turn(Rank::Fresh, 1), 9), Some(9));
        assert_eq!(turns.enter(turn(Rank::Fresh, 2), 9), None);
        // Callers that are gone free their places.
        turns.retain(|job| *job == 9);
        assert_eq!(turns.enter(turn(Rank::Fresh, 1), 8), None);
    }

    #[test]
    fn the_least_deserving_gives_way() {
        let mut turns = Turns::new();
        for job in 0..WAITING_MAX {
            // Source 0 has four, the others one each.
            let source = job.saturating_sub(3) as u64;
            assert_eq!(turns.enter(turn(Rank::Fresh, source), job), None);
        }
        assert_eq!(turns.enter(turn(Rank::Suspect, 100), 100), Some(100));
        assert_eq!(turns.enter(turn(Rank::Fresh, 101), 101), Some(3));
        assert_eq!(turns.enter(turn(Rank::Known, 102), 102), Some(2));
        assert_eq!(turns.enter(turn(Rank::Fresh, 103), 103), Some(1));
        assert_eq!(turns.enter(turn(Rank::Fresh, 104), 104), Some(104));
        assert_eq!(turns.len(), WAITING_MAX);
        assert_eq!(turns.next(), Some(102));
    }

    /// Whatever strangers do, somebody known waits only for others who are known.
    #[test]
    fn strangers_never_keep_a_known_one_out() {
        let mut random = Random(0x7075_5f1d);
        for _ in 0..2_000 {
            let mut turns = Turns::new();
            for job in 0..random.index(40) {
                let rank = [Rank::Fresh, Rank::Suspect][random.index(2)];
                turns.enter(turn(rank, random.below(20)), job);
                if random.below(5) == 0 {
                    turns.next();
                }
                assert!(turns.len() <= WAITING_MAX);
            }
            assert_ne!(
                turns.enter(turn(Rank::Known, random.below(20)), 99),
                Some(99)
            );
            assert_eq!(turns.next(), Some(99));
        }
    }
}
