//! What a timeline shows of a run besides its steps: what the target said, what steps found in it, and what the rails
//! gave.

use std::time::Duration;

use pipeline::Rail;
use serde::{Deserialize, Serialize};

use crate::micros;

/// Marks of one run. Later ones are counted, and are in the log.
const MARKS_MAX: usize = 500;

/// Characters of a mark.
const TEXT_CHARS_MAX: usize = 120;

/// Bytes of a line that are kept until it ends: enough for its mark, whatever the characters are.
const LINE_BYTES_MAX: usize = 4 * TEXT_CHARS_MAX;

/// A moment on the target's serial line: a line that it said, or a text that a step found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// From the job's begin.
    #[serde(rename = "at_us", with = "micros")]
    pub at: Duration,
    /// One line, secrets blotted out, cut off if it is long.
    pub text: String,
}

/// What a rail gave at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// From the job's begin.
    #[serde(rename = "at_us", with = "micros")]
    pub at: Duration,
    /// Which.
    pub rail: Rail,
    /// Millivolts behind its switch.
    pub mv: i64,
    /// Microamperes, signed.
    pub ua: i64,
}

/// Marks while they come.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    kept: Vec<Mark>,
    left_out: usize,
    /// The beginning of a line that has not ended, and when its first byte came.
    line: Vec<u8>,
    since: Option<Duration>,
}

impl Marks {
    /// Takes what the target said, secrets blotted out.
    pub(crate) fn hear(&mut self, at: Duration, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.since.get_or_insert(at);
            let room = LINE_BYTES_MAX.saturating_sub(self.line.len());
            self.line.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.ends_with(b"\n") {
                self.end_line();
            }
        }
    }

    /// Something that a step found, secrets blotted out.
    pub(crate) fn put(&mut self, at: Duration, text: &str) {
        if self.kept.len() >= MARKS_MAX {
            self.left_out += 1;
            return;
        }
        let text = shown(text);
        self.kept.push(Mark { at, text });
    }

    fn end_line(&mut self) {
        let Some(at) = self.since.take() else {
            return;
        };
        let line = std::mem::take(&mut self.line);
        let text = String::from_utf8_lossy(&line);
        if !text.trim().is_empty() {
            self.put(at, &text);
        }
    }

    /// All that came, by time, at `end`.
    pub(crate) fn finish(mut self, end: Duration) -> Vec<Mark> {
        self.end_line();
        self.kept.sort_by_key(|mark| mark.at);
        if self.left_out > 0 {
            let text = format!("{} more are left out here; see the log", self.left_out);
            self.kept.push(Mark { at: end, text });
        }
        self.kept
    }
}

/// One line of a bounded length, without what only a terminal understands.
fn shown(text: &str) -> String {
    let plain = text.trim().chars().map(|c| match c.is_control() {
        true => ' ',
        false => c,
    });
    let mut shown: String = plain.take(TEXT_CHARS_MAX).collect();
    if text.trim().chars().nth(TEXT_CHARS_MAX).is_some() {
        shown.pop();
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_line_is_one_mark_at_the_time_of_its_first_byte() {
        let mut marks = Marks::default();
        marks.hear(ms(1), b"boot o");
        marks.hear(ms(2), b"k\r\n\r\nAPP\x1b[0m");
        marks.put(ms(3), "found \"boot ok\"");
        let marks = marks.finish(ms(9));
        let told: Vec<_> = marks.iter().map(|m| (m.at, m.text.as_str())).collect();
        let wanted = [
            (ms(1), "boot ok"),
            (ms(2), "APP [0m"),
            (ms(3), "found \"boot ok\""),
        ];
        assert_eq!(told, wanted);
    }

    #[test]
    fn a_target_that_never_stops_costs_a_bounded_room() {
        let mut marks = Marks::default();
        for _ in 0..10_000 {
            marks.hear(ms(1), "ü".repeat(1000).as_bytes());
        }
        assert!(marks.line.len() <= LINE_BYTES_MAX);
        for _ in 0..MARKS_MAX + 10 {
            marks.hear(ms(2), b"\nx");
        }
        let marks = marks.finish(ms(9));
        assert_eq!(marks.len(), MARKS_MAX + 1);
        assert_eq!(marks[0].text.chars().count(), TEXT_CHARS_MAX);
        assert!(marks[0].text.ends_with("ü…"), "{}", marks[0].text);
        let last = &marks[MARKS_MAX];
        assert_eq!(last.at, ms(9));
        assert_eq!(last.text, "11 more are left out here; see the log");
    }
}
