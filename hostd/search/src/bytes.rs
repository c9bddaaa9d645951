//! Sequences of bytes on the lines of a bus.

use std::collections::VecDeque;

use decode::Annotation;

use crate::answers::is_meant;
use crate::query::Address;
use crate::run::Done;
use crate::seen::{Places, Seen, Take, number};
use crate::words::hex;

/// Looks for a sequence, which may overlap with itself. On I²C it lies between a start and a stop, on SPI within a selection
/// of the chip, on a UART anywhere.
pub(crate) struct Sequences<'p> {
    pattern: &'p [Option<u8>],
    lines: Vec<Line>,
    /// With I²C: in transfers to it, and whether the words that come now are.
    address: Option<Address>,
    is_meant: bool,
}

/// A line and its last words, at most as many as the pattern has.
struct Line {
    name: &'static str,
    words: VecDeque<Word>,
}

#[derive(Clone, Copy)]
struct Word {
    value: u64,
    from: u64,
}

impl<'p> Sequences<'p> {
    pub(crate) fn new(
        pattern: &'p [Option<u8>],
        lines: impl Iterator<Item = &'static str>,
        address: Option<Address>,
    ) -> Self {
        let words = VecDeque::new;
        Self {
            pattern,
            lines: lines
                .map(|name| Line {
                    name,
                    words: words(),
                })
                .collect(),
            address,
            is_meant: true,
        }
    }

    fn clear(&mut self, name: &str) {
        let lines = self.lines.iter_mut().filter(|line| line.name == name);
        lines.for_each(|line| line.words.clear());
    }

    fn word(&mut self, name: &str, note: &Annotation, out: &mut Places<'_, '_>) -> Done {
        let line = self.lines.iter_mut().find(|line| line.name == name);
        let (Some(line), Some(value)) = (line, number(note)) else {
            return Ok(());
        };
        if line.words.len() == self.pattern.len() {
            line.words.pop_front();
        }
        let from = note.start;
        line.words.push_back(Word { value, from });
        let is_right = |(wanted, word): (&Option<u8>, &Word)| {
            wanted.is_none_or(|wanted| u64::from(wanted) == word.value)
        };
        let is_whole = line.words.len() == self.pattern.len();
        // The last word first: most sequences end wrong.
        let mut pairs = self.pattern.iter().rev().zip(line.words.iter().rev());
        if !is_whole || !pairs.all(is_right) {
            return Ok(());
        }
        let from = line.words.front().map_or(note.start, |word| word.from);
        let text = hex(line.words.iter().map(|word| word.value));
        out.hit(from, note.end, format!("{text} on {name}"))
    }
}

impl Take for Sequences<'_> {
    fn take(&mut self, seen: Seen, note: &Annotation, out: &mut Places<'_, '_>) -> Done {
        match seen {
            Seen::Start | Seen::Stop => self.clear("sda"),
            Seen::Deselected(name) => self.clear(name),
            Seen::Address { is_read } => {
                if let (Some(wanted), Some(address)) = (self.address, number(note)) {
                    self.is_meant = is_meant(wanted, address, is_read);
                }
            }
            Seen::Word(name) if self.is_meant => return self.word(name, note, out),
            Seen::Word(_) | Seen::RepeatedStart | Seen::Ack(_) | Seen::Mark(_) | Seen::Other => {}
        }
        Ok(())
    }
}
