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

    /// So many fewer are to come.
    fn shorten(&mut self, by: u64) {
        self.asked = self.asked.saturating_sub(by).max(1);
    }
}

/// The last samples that were looked through, for as long as the trigger has not come.
#[derive(Debug, Default)]
struct Before {
    bytes: Vec<u8>,
    /// Bytes that are wanted.
    most: usize,
}

impl Before {
    fn new(samples: u64, unit: usize) -> Self {
        let samples = usize::try_from(samples).unwrap_or(usize::MAX);
        Self {
            bytes: Vec::new(),
            most: samples.saturating_mul(unit),
        }
    }

    fn keep(&mut self, raw: &[u8]) {
        if self.most == 0 {
            return;
        }
        self.bytes.extend_from_slice(raw);
        // Moving them is worth it only now and then.
        if 2 * self.most < self.bytes.len() {
            self.cut();
        }
    }

    fn cut(&mut self) {
        let surplus = self.bytes.len().saturating_sub(self.most);
        self.bytes.drain(..surplus);
    }

    /// No more than are wanted.
    fn take(&mut self) -> Vec<u8> {
        self.cut();
        std::mem::take(&mut self.bytes)
    }
}

/// Where the trigger lies in a capture, and how many samples that has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Begun {
    /// Samples before the trigger.
    pub(crate) before: u64,
    /// Samples of either track.
    pub(crate) asked: [u64; 2],
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
    /// Samples before the trigger that are wanted.
    wanted: u64,
    before: Before,
    begun: Option<Begun>,
    beside: Option<Beside>,
}

impl Intake {
    pub(crate) fn new(unit: usize, asked: u64, search: Option<Search>) -> Self {
        let wanted = search
            .as_ref()
            .map_or(0, |search| search.trigger().pre_samples);
        Self {
            track: Track::new(unit, asked),
            search,
            passed: 0,
            wanted,
            before: Before::new(wanted, unit),
            begun: None,
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
                // The trigger is in none of those, and only so many count that come before it.
                beside.forget(self.passed.saturating_sub(self.wanted));
                let wanted = usize::try_from(self.wanted).unwrap_or(usize::MAX);
                let most = HELD_BYTES_MAX.saturating_add(wanted.saturating_mul(VOLT_BYTES));
                if most < beside.held.len() {
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
            self.before.keep(&raw[..passed * self.track.unit]);
            if found.is_none() {
                return Ok(Vec::new());
            }
            self.search = None;
            let mut kept = self.before.take();
            self.begin((kept.len() / self.track.unit) as u64);
            kept.extend_from_slice(&raw[passed * self.track.unit..]);
            raw = kept;
        }
        Ok(self.track.bounded(raw))
    }

    /// The trigger has come, after so many samples that count.
    fn begin(&mut self, before: u64) {
        self.passed -= before;
        let missing = self.wanted - before;
        if missing > 0 {
            self.track.shorten(missing);
            if let Some(beside) = &mut self.beside {
                beside.track.shorten(missing / beside.every);
            }
        }
        let beside = self.beside.as_ref().map_or(0, |beside| beside.track.asked);
        self.begun = Some(Begun {
            before,
            asked: [self.track.asked, beside],
        });
    }

    /// Where the trigger lies, once after it has come.
    pub(crate) fn begun(&mut self) -> Option<Begun> {
        self.begun.take()
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
    use pod_protocol::capture::{Condition, Edge, Trigger};

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
        begin_at_the_trigger(0, 700, 300);
    }

    /// The same with samples before it: as many as wanted, or those that there were.
    #[test]
    fn both_kinds_have_what_came_before_the_trigger() {
        begin_at_the_trigger(500, 700, 300);
        begin_at_the_trigger(1_500, 2_000, 600);
    }

    fn begin_at_the_trigger(pre_samples: u64, asked: u64, asked_beside: u64) {
        let (count, rises) = (3_000_u16, 1_234);
        let levels: Vec<u8> = (0..count).map(|at| u8::from(at >= rises)).collect();
        let volts: Vec<u8> = (0..count)
            .flat_map(|at| f32::from(at).to_le_bytes())
            .collect();
        let wiring = Wiring::new(1, &[0]).unwrap();
        let trigger = Trigger {
            condition: Condition::edge(1, Edge::Rising),
            timeout_ms: 10_000,
            pre_samples,
        };
        let mut random = fastrand::Rng::with_seed(1);
        for round in 0..200 {
            let is_triggered = round % 2 == 0;
            let search = is_triggered.then(|| Search::new(trigger, &wiring, 1_000).unwrap());
            let every = random.u64(1..5);
            let mut intake = Intake::new(1, asked, search).beside(asked_beside, every);
            let mut begun = None;
            let (mut found, mut beside) = (Vec::new(), Vec::new());
            let mut rest = [&levels[..], &volts[..]];
            while intake.missing() > 0 {
                let track = usize::from(rest[0].is_empty() || random.bool());
                let (now, later) = rest[track].split_at(random.usize(..900).min(rest[track].len()));
                rest[track] = later;
                let bytes = now.to_vec();
                let [one, other] = intake.push(Piece { track, bytes }).unwrap();
                begun = intake.begun().or(begun);
                found.extend(one.bytes);
                beside.extend(other.bytes);
            }
            let before = pre_samples.min(u64::from(rises));
            let missing = pre_samples - before;
            let (zero, asked, asked_beside) = match is_triggered {
                true => {
                    let beside = asked_beside - missing / every;
                    (u64::from(rises) - before, asked - missing, beside)
                }
                false => (0, asked, asked_beside),
            };
            let expected = is_triggered.then_some(Begun {
                before,
                asked: [asked, asked_beside],
            });
            assert_eq!(begun, expected);
            let (first, count) = (
                usize::try_from(zero).unwrap(),
                usize::try_from(asked).unwrap(),
            );
            assert_eq!(found, levels[first..][..count]);
            let (beside, _) = beside.as_chunks::<VOLT_BYTES>();
            #[expect(clippy::cast_precision_loss, reason = "small numbers")]
            let expected = (0..asked_beside).map(|at| ((zero + at * every) as f32).to_le_bytes());
            assert_eq!(beside, Vec::from_iter(expected));
        }
    }
}
