//! Levels and the samples of an analog input in one run, as lines.
//!
//! `-O ols` is the one format of `sigrok-cli` 0.7 that has every level sample on a line of its own. Analog samples, which
//! it does not know, come between as the lines that people get to see: `A1: 3.0902 V DC`, with the digits that the
//! instrument's resolution deserves. Formats that have both (`csv`, `srzip`) lose samples or take minutes for a million.

use std::collections::VecDeque;

use crate::error::AcquireError;
use crate::intake::Piece;

/// Characters of a line. Real ones have up to 40 beside a channel's name.
const LINE_BYTES_MAX: usize = 256;

/// Lines that say nothing about samples: where a recording of a scope begins and ends.
const MARKS: [&str; 3] = ["FRAME-BEGIN", "FRAME-END", ""];

/// How the line begins that tells the rate.
const RATE: &str = ";Rate:";

/// What the letters before a unit multiply by.
const PREFIXES: [(&str, f64); 12] = [
    ("f", 1e-15),
    ("p", 1e-12),
    ("n", 1e-9),
    ("µ", 1e-6),
    ("u", 1e-6),
    ("m", 1e-3),
    ("", 1.0),
    ("k", 1e3),
    ("M", 1e6),
    ("G", 1e9),
    ("T", 1e12),
    ("P", 1e15),
];

/// Reads lines, however they come.
#[derive(Debug)]
pub(crate) struct Lines {
    /// Bytes of a level sample.
    unit: usize,
    /// The name of the analog channel.
    input: String,
    /// The beginning of a line whose rest has not come.
    begun: Vec<u8>,
    rate_hz: Option<u64>,
    levels: Vec<u8>,
    volts: Vec<u8>,
}

impl Lines {
    pub(crate) fn new(unit: usize, input: &str) -> Self {
        Self {
            unit,
            input: input.to_owned(),
            begun: Vec::new(),
            rate_hz: None,
            levels: Vec::new(),
            volts: Vec::new(),
        }
    }

    /// The rate, once it was told.
    pub(crate) fn rate_hz(&self) -> Option<u64> {
        self.rate_hz
    }

    /// Takes bytes, and adds what they complete.
    ///
    /// # Errors
    /// A line is none of those that may come.
    pub(crate) fn push(
        &mut self,
        bytes: &[u8],
        pieces: &mut VecDeque<Piece>,
    ) -> Result<(), AcquireError> {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (line, later) = (&rest[..end], &rest[end + 1..]);
            rest = later;
            if self.begun.is_empty() {
                self.line(line)?;
            } else {
                let mut whole = std::mem::take(&mut self.begun);
                whole.extend_from_slice(line);
                self.line(&whole)?;
            }
        }
        if LINE_BYTES_MAX < self.begun.len() + rest.len() {
            return Err(malformed(&self.begun));
        }
        self.begun.extend_from_slice(rest);
        for (track, samples) in [&mut self.levels, &mut self.volts].into_iter().enumerate() {
            if !samples.is_empty() {
                let bytes = std::mem::take(samples);
                pieces.push_back(Piece { track, bytes });
            }
        }
        Ok(())
    }

    fn line(&mut self, bytes: &[u8]) -> Result<(), AcquireError> {
        let line = std::str::from_utf8(bytes)
            .ok()
            .filter(|line| line.len() <= LINE_BYTES_MAX);
        let line = line.ok_or_else(|| malformed(bytes))?.trim_ascii();
        if let Some(rate) = line.strip_prefix(RATE) {
            let rate = rate.trim().parse::<u64>().ok().filter(|rate| *rate > 0);
            self.rate_hz = Some(rate.ok_or_else(|| malformed(bytes))?);
            return Ok(());
        }
        if line.starts_with(';') || MARKS.contains(&line) {
            return Ok(());
        }
        let known = match line.split_once(": ") {
            Some((input, text)) if input == self.input => volts(text).map(|volts| {
                self.volts.extend(volts.to_le_bytes());
            }),
            _ => self.level(line),
        };
        known.ok_or_else(|| malformed(bytes))
    }

    /// `b6d9@0`: a sample, its highest byte first, and its number.
    fn level(&mut self, line: &str) -> Option<()> {
        let (digits, number) = line.split_once('@')?;
        let is_whole =
            digits.len() == 2 * self.unit && number.bytes().all(|byte| byte.is_ascii_digit());
        let (pairs, _) = digits.as_bytes().as_chunks::<2>();
        let start = self.levels.len();
        for pair in pairs.iter().rev().filter(|_| is_whole) {
            let digit = |at: usize| char::from(pair[at]).to_digit(16);
            self.levels
                .push(u8::try_from(digit(0)? << 4 | digit(1)?).ok()?);
        }
        (self.levels.len() == start + self.unit).then_some(())
    }
}

/// `3.0902 V DC`: a number, a unit, and more.
fn volts(text: &str) -> Option<f32> {
    let mut words = text.split_ascii_whitespace();
    let number: f64 = words.next()?.parse().ok()?;
    let prefix = words.next()?.strip_suffix('V')?;
    let (_, factor) = PREFIXES.iter().find(|(known, _)| *known == prefix)?;
    #[allow(
        clippy::cast_possible_truncation,
        reason = "what it was before it became text"
    )]
    let volts = (number * factor) as f32;
    Some(volts)
}

fn malformed(line: &[u8]) -> AcquireError {
    let line = String::from_utf8_lossy(line);
    let line: String = line
        .chars()
        .filter(|char| !char.is_control())
        .take(60)
        .collect();
    AcquireError::Malformed {
        what: format!("a line of levels and volts is `{line}`"),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// As `sigrok-cli` writes it, for twelve logic channels.
    pub(crate) const MIXED: &str = ";Rate: 100000\n;Channels: 12\n;EnabledChannels: -1\n;Compressed: true\n\
        ;CursorEnabled: false\n06d9@0\n06b6@1\nA1: 10.0000 V DC\nA1: -0.5 mV DC\nFRAME-END\n0db6@2\nA1: 1.2 kV\n";

    #[test]
    fn both_kinds_are_read_however_the_lines_come() {
        for size in 1..MIXED.len() {
            let mut lines = Lines::new(2, "A1");
            let mut pieces = VecDeque::new();
            for bytes in MIXED.as_bytes().chunks(size) {
                lines.push(bytes, &mut pieces).unwrap();
            }
            assert_eq!(lines.rate_hz(), Some(100_000));
            let of = |track| -> Vec<u8> {
                let of = pieces.iter().filter(|piece| piece.track == track);
                of.flat_map(|piece| piece.bytes.iter().copied()).collect()
            };
            assert_eq!(of(0), [0xD9, 0x06, 0xB6, 0x06, 0xB6, 0x0D]);
            let volts = [10.0_f32, -0.0005, 1_200.0].map(f32::to_le_bytes);
            assert_eq!(of(1), volts.concat());
        }
    }

    #[test]
    fn what_is_no_such_line_is_said() {
        for line in [
            "d9@0",
            "d9d9d9@0",
            "xxd9@0",
            "d9d9@x",
            "d9d9",
            "+9d9@0",
            "A2: 1.0 V",
            "A1: 1.0 A DC",
            "A1: V",
            "A1: 1.0 V\u{7f}@",
            "libsigrok 0.5.2",
            ";Rate: 0",
            ";Rate: fast",
        ] {
            let mut lines = Lines::new(2, "A1");
            let pushed = lines.push(format!("{line}\n").as_bytes(), &mut VecDeque::new());
            let told = pushed.unwrap_err().to_string();
            assert!(
                told.contains("a line of levels and volts is"),
                "{line}: {told}"
            );
        }
        let mut endless = Lines::new(2, "A1");
        assert!(
            endless
                .push(&[b'0'; LINE_BYTES_MAX], &mut VecDeque::new())
                .is_ok()
        );
        assert!(endless.push(b"0", &mut VecDeque::new()).is_err());
    }
}
