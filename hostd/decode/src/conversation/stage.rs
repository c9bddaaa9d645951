//! Joins the words of both lines to runs.

use super::{BREAK, Config, DATA, PARITY_ERR, WARNING};
use crate::annotation::{Annotation, Value};
use crate::stage::Stage;
use crate::uart::{self, Parity};

/// A run that may go on.
struct Run {
    start: u64,
    /// Where the data bits of its last word end.
    end: u64,
    words: Vec<u64>,
    /// Where a word of the other line ends that began after the last word.
    answered: Option<u64>,
}

/// Both lines in the middle of a capture.
pub(crate) struct Conversation {
    /// From the data bits of a word to those of the next one, at most.
    gap: u64,
    /// Longest time from the first data bit to what is said last of a frame.
    frame: u64,
    length: usize,
    delimiter: Option<u64>,
    runs: [Option<Run>; 2],
    /// What was said, and waits for a run that began before.
    ready: Vec<Annotation>,
}

impl Conversation {
    pub(crate) fn new(config: &Config, sample_rate_hz: f64) -> Self {
        let bit = sample_rate_hz / config.uart.baud_rate;
        let parity = f64::from(u8::from(config.uart.parity != Parity::None));
        // Stop bit, parity bit, and the next start bit.
        let between = (2.0 + parity) * bit;
        // Widths are rounded to whole samples.
        let gap = whole(config.gap_bits * bit + between).saturating_add(2);
        let data_bits = f64::from(config.uart.data_bits);
        Self {
            gap,
            frame: whole(data_bits * bit + between).saturating_add(2),
            length: config.length,
            delimiter: config.delimiter,
            runs: [None, None],
            ready: Vec::new(),
        }
    }

    fn word(&mut self, line: usize, (start, end): (u64, u64), word: u64) {
        let gap = self.gap;
        let is_over = |run: &Run| {
            run.end.saturating_add(gap) < start || run.answered.is_some_and(|end| end <= start)
        };
        // Words come in the order in which they begin: what is over for this one is for all that follow, on both lines.
        for (at, class) in [(0, DATA), (1, DATA + 1)] {
            if self.runs[at].as_ref().is_some_and(is_over) {
                self.end(at, class);
            }
        }
        if let Some(other) = &mut self.runs[1 - line]
            && other.end <= start
        {
            other.answered.get_or_insert(end);
        }
        let run = self.runs[line].get_or_insert_with(|| Run {
            start,
            end,
            words: Vec::new(),
            answered: None,
        });
        run.words.push(word);
        (run.end, run.answered) = (end, None);
        if run.words.len() >= self.length || self.delimiter == Some(word) {
            let class = DATA + u8::from(line == 1);
            self.end(line, class);
        }
    }

    fn end(&mut self, line: usize, class: u8) {
        if let Some(run) = self.runs[line].take() {
            self.say(Annotation {
                start: run.start,
                end: run.end,
                class,
                value: Value::Words(run.words.into_boxed_slice()),
            });
        }
    }

    fn say(&mut self, said: Annotation) {
        let at = self
            .ready
            .partition_point(|earlier| earlier.start <= said.start);
        self.ready.insert(at, said);
    }

    /// Give on what no open run can come before.
    fn release(&mut self, out: &mut Vec<Annotation>) {
        let open = self.runs.iter().flatten().map(|run| run.start).min();
        let count = match open {
            None => self.ready.len(),
            Some(open) => self.ready.partition_point(|said| said.start < open),
        };
        out.extend(self.ready.drain(..count));
    }

    /// What is not a word also shows how late it is.
    fn pass(&mut self, now: u64) {
        let over = self.gap.saturating_add(self.frame);
        for (at, class) in [(0, DATA), (1, DATA + 1)] {
            let run = self.runs[at].as_ref();
            if run.is_some_and(|run| run.end.saturating_add(over) < now) {
                self.end(at, class);
            }
        }
    }
}

impl Stage for Conversation {
    fn take(&mut self, found: Annotation, out: &mut Vec<Annotation>) {
        let line = found.class & 1;
        let (class, now) = match found.class & !1 {
            uart::DATA => {
                if let Value::Number(word) = found.value {
                    self.word(line.into(), (found.start, found.end), word);
                }
                return self.release(out);
            }
            uart::PARITY_ERR => (PARITY_ERR, found.start),
            uart::BREAK => (BREAK, found.end),
            _ => (WARNING, found.start),
        };
        self.pass(now);
        self.say(Annotation {
            class: class + line,
            ..found
        });
        self.release(out);
    }

    fn finish(&mut self, out: &mut Vec<Annotation>) {
        self.end(0, DATA);
        self.end(1, DATA + 1);
        self.release(out);
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates"
)]
fn whole(samples: f64) -> u64 {
    samples.ceil() as u64
}
