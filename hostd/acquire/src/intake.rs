//! Raw samples of one capture as they come: from the trigger on, and exactly as many as were asked for.

use crate::error::AcquireError;
use crate::trigger::Search;
use crate::volts::VOLT_BYTES;

/// Bytes of analog samples that are kept until it is known whether they lie behind the trigger. Instruments send both
/// kinds in turns, and far less than this in one.
const HELD_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Samples of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    /// 0, or 1 for analog samples beside levels.
    pub(crate) track: usize,
    pub(crate) bytes: Vec<u8>,
}

impl From<Vec<u8>> for Piece {
    fn from(bytes: Vec<u8>) -> Self {
        Self { track: 0, bytes }
    }
}

/// Samples of one kind that are to come.
#[derive(Debug)]
struct Track {
    /// Bytes of a sample.
    unit: usize,
    /// Samples asked for.
    asked: u64,
    /// Of these, how many came.
    found: u64,
    /// The beginning of a sample whose rest has not come.
    begun: Vec<u8>,
}

impl Track {
    fn new(unit: usize, asked: u64) -> Self {
        Self {
            unit,
            asked,
            found: 0,
            begun: Vec::new(),
        }
    }

    /// Whole samples; the rest is kept for later.
    fn whole(&mut self, mut bytes: Vec<u8>) -> Vec<u8> {
        if !self.begun.is_empty() {
            let mut joined = std::mem::take(&mut self.begun);
            joined.append(&mut bytes);
            bytes = joined;
        }
        let whole = bytes.len() / self.unit * self.unit;
        self.begun = bytes.split_off(whole);
        bytes
    }

    /// No more than were asked for.
    fn bounded(&mut self, mut raw: Vec<u8>) -> Vec<u8> {
        let missing = usize::try_from(self.missing()).unwrap_or(usize::MAX);
        raw.truncate(missing.saturating_mul(self.unit));
        self.found += (raw.len() / self.unit) as u64;
        raw
    }

    fn missing(&self) -> u64 {
        self.asked - self.found
    }
}

/// Analog samples that come beside levels: one at each instant, of which one of `every` is kept.
#[derive(Debug)]
struct Beside {
    track: Track,
    every: u64,
    /// Those that came and were not looked at, the first of which is of the instant `at`.
    held: Vec<u8>,
    at: u64,
}

impl Beside {
    /// Forgets what lies before the instant `zero`.
    fn forget(&mut self, zero: u64) {
        let before = usize::try_from(zero.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let count = before.min(self.held.len() / VOLT_BYTES);
        self.held.drain(..count * VOLT_BYTES);
        self.at += count as u64;
    }

    /// What there is from the instant `zero` on.
    fn since(&mut self, zero: u64) -> Vec<u8> {
        self.forget(zero);
        let instants = (self.at..).zip(self.held.chunks_exact(VOLT_BYTES));
        let kept =
            instants.filter(|(at, _)| *at >= zero && (*at - zero).is_multiple_of(self.every));
        let raw = kept.flat_map(|(_, volts)| volts.iter().copied()).collect();
        self.at += (self.held.len() / VOLT_BYTES) as u64;
        self.held.clear();
        self.track.bounded(raw)
    }
}

/// What is still to come of a capture.
#[derive(Debug)]
pub(crate) struct Intake {
    track: Track,
    /// What is waited for.
    search: Option<Search>,
    /// Samples before the first one that counts, as far as that is known.
    passed: u64,
    beside: Option<Beside>,
}

impl Intake {
    pub(crate) fn new(unit: usize, asked: u64, search: Option<Search>) -> Self {
        Self {
            track: Track::new(unit, asked),
            search,
            passed: 0,
            beside: None,
        }
    }

    /// The same with so many analog samples beside it, one of `every` that come.
    pub(crate) fn beside(self, asked: u64, every: u64) -> Self {
        let beside = Beside {
            track: Track::new(VOLT_BYTES, asked),
            every,
            held: Vec::new(),
            at: 0,
        };
        Self {
            beside: Some(beside),
            ..self
        }
    }

    /// Takes bytes; returns those of whole samples that belong to the capture, which may be none.
    ///
    /// # Errors
    /// The trigger did not come.
    pub(crate) fn push(&mut self, piece: Piece) -> Result<[Piece; 2], AcquireError> {
        let mut levels = Vec::new();
        match &mut self.beside {
            Some(beside) if piece.track > 0 => {
                let whole = beside.track.whole(piece.bytes);
                beside.held.extend(whole);
            }
            _ => levels = self.push_first(piece.bytes)?,
        }
        let volts = match &mut self.beside {
            None => Vec::new(),
            Some(beside) if self.search.is_none() => beside.since(self.passed),
            Some(beside) => {
                // The trigger is in none of those.
                beside.forget(self.passed);
                if HELD_BYTES_MAX < beside.held.len() {
                    let what = "its analog samples come far ahead of its levels".to_owned();
                    return Err(AcquireError::Malformed { what });
                }
                Vec::new()
            }
        };
        let beside = Piece {
            track: 1,
            bytes: volts,
        };
        Ok([levels.into(), beside])
    }

    fn push_first(&mut self, bytes: Vec<u8>) -> Result<Vec<u8>, AcquireError> {
        let mut raw = self.track.whole(bytes);
        if let Some(search) = &mut self.search {
            let found = search.find(&raw)?;
            let passed = found.unwrap_or(raw.len() / self.track.unit);
            self.passed += passed as u64;
            if found.is_none() {
                return Ok(Vec::new());
            }
            self.search = None;
            raw.drain(..passed * self.track.unit);
        }
        Ok(self.track.bounded(raw))
    }

    /// What is still waited for.
    pub(crate) fn search(&self) -> Option<&Search> {
        self.search.as_ref()
    }

    /// Samples that came.
    pub(crate) fn found(&self) -> u64 {
        self.track.found
    }

    /// Samples asked for.
    pub(crate) fn asked(&self) -> u64 {
        self.track.asked
    }

    /// Samples that are to come, of both kinds.
    pub(crate) fn missing(&self) -> u64 {
        let beside = self.beside.as_ref();
        self.track.missing() + beside.map_or(0, |beside| beside.track.missing())
    }
}

#[cfg(test)]
mod tests {
    use pod_protocol::capture::{Edge, Trigger};

    use super::*;
    use crate::wiring::Wiring;

    fn push(intake: &mut Intake, bytes: Vec<u8>) -> Vec<u8> {
        let [levels, beside] = intake.push(bytes.into()).unwrap();
        assert_eq!(beside.bytes, [0_u8; 0]);
        levels.bytes
    }

    #[test]
    fn samples_are_whole_and_exactly_as_many_as_asked_for() {
        let mut intake = Intake::new(2, 3, None);
        assert_eq!(push(&mut intake, vec![1]), [0_u8; 0]);
        assert_eq!(push(&mut intake, vec![2, 3]), [1, 2]);
        assert_eq!(intake.missing(), 2);
        assert_eq!(push(&mut intake, vec![4, 5, 6, 7, 8, 9]), [3, 4, 5, 6]);
        assert_eq!(intake.missing(), 0);
        assert_eq!(push(&mut intake, vec![1, 2]), [0_u8; 0]);
        assert_eq!(intake.found(), 3);
    }

    /// Both kinds as an instrument has them: sample n of either is of instant n. They come in pieces of any size, either
    /// one ahead.
    #[test]
    fn both_kinds_begin_at_the_trigger_however_they_come() {
        let (count, rises) = (3_000_u16, 1_234);
        let levels: Vec<u8> = (0..count).map(|at| u8::from(at >= rises)).collect();
        let volts: Vec<u8> = (0..count)
            .flat_map(|at| f32::from(at).to_le_bytes())
            .collect();
        let wiring = Wiring::new(1, &[0]).unwrap();
        let trigger = Trigger {
            channel: 1,
            edge: Edge::Rising,
            timeout_ms: 10_000,
        };
        let mut random = fastrand::Rng::with_seed(1);
        for round in 0..200 {
            let is_triggered = round % 2 == 0;
            let search = is_triggered.then(|| Search::new(trigger, &wiring, 1_000).unwrap());
            let every = random.u64(1..5);
            let mut intake = Intake::new(1, 700, search).beside(300, every);
            let (mut found, mut beside) = (Vec::new(), Vec::new());
            let mut rest = [&levels[..], &volts[..]];
            while intake.missing() > 0 {
                let track = usize::from(rest[0].is_empty() || random.bool());
                let (now, later) = rest[track].split_at(random.usize(..900).min(rest[track].len()));
                rest[track] = later;
                let bytes = now.to_vec();
                let [one, other] = intake.push(Piece { track, bytes }).unwrap();
                found.extend(one.bytes);
                beside.extend(other.bytes);
            }
            let zero = if is_triggered { u64::from(rises) } else { 0 };
            let first = usize::try_from(zero).unwrap();
            assert_eq!(found, levels[first..][..700]);
            let (beside, _) = beside.as_chunks::<VOLT_BYTES>();
            #[expect(clippy::cast_precision_loss, reason = "small numbers")]
            let expected = (0..300).map(|at| ((zero + at * every) as f32).to_le_bytes());
            assert_eq!(beside, Vec::from_iter(expected));
        }
    }
}
