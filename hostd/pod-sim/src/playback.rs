//! A real recording as the target's signals on the logic-analyzer channels: looped forever, or
//! played once, from the start of the pod or from a later instant.

use std::sync::Arc;
use std::time::Duration;

use pod_protocol::{LA_CHANNELS, LA_MASK};

/// Highest sample rate of a recording, in hertz: more than any logic analyzer has. Rates are whole
/// millihertz.
const RATE_HZ_MAX: f64 = 1e10;

/// Nanoseconds in a second times millihertz in a hertz.
const NS_MHZ: u128 = 1_000_000_000_000;

/// Logic levels that were recorded elsewhere.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// Samples per second.
    pub sample_rate_hz: f64,
    /// Number of samples.
    pub samples: u64,
    /// Sample index and the word from there on, ascending; samples before the first are 0.
    pub edges: Vec<(u64, u16)>,
}

/// Why a recording cannot be played.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum PlayError {
    /// The rate is not above zero and at most 10 GHz.
    #[error("the recording's sample rate is out of range")]
    Rate,
    /// The edges are not ascending, or lie outside the recording.
    #[error("the recording's edges are out of order at sample {index}")]
    Order {
        /// The sample index.
        index: u64,
    },
    /// The loop window is empty or lies outside the recording.
    #[error("the window {from}..{to} is not within the recording's {samples} samples")]
    Window {
        /// First sample.
        from: u64,
        /// The sample after the last one.
        to: u64,
        /// Number of samples in the recording.
        samples: u64,
    },
    /// The map names a bit above 15, a channel outside 1..=14, or a channel twice.
    #[error("bit {bit} cannot be played on LA{la}")]
    Map {
        /// Bit of the recording.
        bit: u8,
        /// LA channel.
        la: u8,
    },
}

/// A recording connected to channels.
#[derive(Debug, Clone)]
pub struct Playback {
    /// Position in the loop and the LA word from there on; the first is at 0.
    words: Arc<[(u64, u16)]>,
    length: u64,
    rate_millihertz: u64,
    mask: u16,
    powered_by: Option<u8>,
    /// Until then it holds its first levels.
    start_ns: u64,
    /// It ends after one pass and keeps its last levels.
    once: bool,
}

impl Playback {
    /// Plays `recording` on channels: each `(bit, la)` of `map` is a bit of the recording and an LA
    /// channel from 1. Loops over the samples `window` (from, to), or over everything.
    ///
    /// # Errors
    /// [`PlayError`] if recording, map or window is invalid.
    pub fn new(
        recording: &Recording,
        map: &[(u8, u8)],
        window: Option<(u64, u64)>,
    ) -> Result<Self, PlayError> {
        let (from, to) = window.unwrap_or((0, recording.samples));
        if from >= to || to > recording.samples {
            return Err(PlayError::Window {
                from,
                to,
                samples: recording.samples,
            });
        }
        let rate_millihertz = millihertz(recording.sample_rate_hz).ok_or(PlayError::Rate)?;
        let mask = mask_of(map)?;
        let mut words = vec![(0, 0)];
        let mut previous = None;
        for (index, word) in &recording.edges {
            if previous.is_some_and(|previous| previous >= *index) || *index >= recording.samples {
                return Err(PlayError::Order { index: *index });
            }
            previous = Some(*index);
            let la_word = mapped(*word, map);
            if *index <= from {
                words[0].1 = la_word;
            } else if *index < to && words.last().is_some_and(|(_, last)| *last != la_word) {
                words.push((index - from, la_word));
            }
        }
        Ok(Self {
            words: words.into(),
            length: to - from,
            rate_millihertz,
            mask,
            powered_by: None,
            start_ns: 0,
            once: false,
        })
    }

    /// Plays the recording once, then holds its last levels.
    #[must_use]
    pub fn once(mut self) -> Self {
        self.once = true;
        self
    }

    /// Begins this long after the pod's start, and holds its first levels until then.
    #[must_use]
    pub fn starting_after(mut self, delay: Duration) -> Self {
        self.start_ns = u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX);
        self
    }

    /// The target drives its pins only while this rail (1 or 2) is on.
    #[must_use]
    pub fn powered_by(mut self, efuse: u8) -> Self {
        self.powered_by = Some(efuse);
        self
    }

    pub(crate) fn power_rail(&self) -> Option<u8> {
        self.powered_by
    }

    /// The channels that it drives.
    pub(crate) fn mask(&self) -> u16 {
        self.mask
    }

    /// A cursor at an instant: the word there, then the changes after it.
    pub(crate) fn cursor(&self, at_ns: u64) -> Cursor {
        let played_ns = at_ns.saturating_sub(self.start_ns);
        let sample = u128::from(played_ns) * u128::from(self.rate_millihertz) / NS_MHZ;
        let length = u128::from(self.length);
        let ended = self.once && sample >= length;
        let (turn, position) = if ended {
            (0, length - 1)
        } else {
            (sample / length, sample % length)
        };
        let position = u64::try_from(position).expect("less than the length");
        let next = self.words.partition_point(|(at, _)| *at <= position);
        let mut cursor = Cursor {
            playback: self.clone(),
            turn,
            next,
            word: self.words[next - 1].1,
            next_ns: None,
        };
        cursor.next_ns = cursor.time_of_next();
        cursor
    }
}

/// A position in a recording that is being played.
pub(crate) struct Cursor {
    playback: Playback,
    turn: u128,
    next: usize,
    word: u16,
    next_ns: Option<u64>,
}

impl Cursor {
    pub(crate) fn word(&self) -> u16 {
        self.word
    }

    /// When the word changes next, in nanoseconds. `None` if it never does.
    pub(crate) fn next_ns(&self) -> Option<u64> {
        self.next_ns
    }

    fn time_of_next(&self) -> Option<u64> {
        let Playback { words, length, .. } = &self.playback;
        if words.len() == 1 {
            return None;
        }
        let (turn, position) = match words.get(self.next) {
            Some((position, _)) => (self.turn, *position),
            None if self.playback.once => return None,
            None => (self.turn + 1, 0),
        };
        let sample = turn * u128::from(*length) + u128::from(position);
        let ns = (sample * NS_MHZ).div_ceil(u128::from(self.playback.rate_millihertz));
        u64::try_from(ns).ok()?.checked_add(self.playback.start_ns)
    }

    /// Advances past the next change.
    pub(crate) fn advance(&mut self) {
        if self.next == self.playback.words.len() {
            self.turn += 1;
            self.next = 0;
        }
        self.word = self.playback.words[self.next].1;
        self.next += 1;
        self.next_ns = self.time_of_next();
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the range is checked first"
)]
fn millihertz(rate_hz: f64) -> Option<u64> {
    let rate = (rate_hz * 1e3).round();
    let sensible = (1.0..=RATE_HZ_MAX * 1e3).contains(&rate);
    sensible.then_some(rate as u64)
}

fn mask_of(map: &[(u8, u8)]) -> Result<u16, PlayError> {
    let mut mask = 0_u16;
    for (bit, la) in map {
        let wrong = *bit > 15 || !(1..=LA_CHANNELS).contains(la);
        if wrong || mask & (1 << (la - 1)) != 0 {
            return Err(PlayError::Map { bit: *bit, la: *la });
        }
        mask |= 1 << (la - 1);
    }
    Ok(mask & LA_MASK)
}

fn mapped(word: u16, map: &[(u8, u8)]) -> u16 {
    map.iter()
        .filter(|(bit, _)| word & (1 << bit) != 0)
        .fold(0, |la_word, (_, la)| la_word | (1 << (la - 1)))
}

#[cfg(test)]
mod tests;
