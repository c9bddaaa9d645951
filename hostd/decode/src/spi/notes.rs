//! Turns bus events into annotations.

use super::machine::{Event, Kind};
use super::{Config, MISO_BITS, MISO_DATA, MISO_TRANSFER, MOSI_BITS, MOSI_DATA, MOSI_TRANSFER};
use crate::annotation::{Annotation, ClassSet, Value};

/// Maximum number of words in a transfer annotation; a longer transfer becomes several annotations.
pub(crate) const TRANSFER_WORDS_MAX: usize = 1 << 20;

/// One data line.
struct Line {
    present: bool,
    data: u8,
    bits: u8,
    transfer: u8,
    words: Vec<u64>,
}

/// Remembers what an annotation needs from earlier events.
pub(super) struct Notes {
    shown: ClassSet,
    /// In the order in which sigrok prints them.
    lines: [Line; 2],
    bits: Vec<(u64, [bool; 2])>,
    selected_at: Option<u64>,
}

impl Notes {
    pub(super) fn new(shown: ClassSet, config: &Config) -> Self {
        let line = |present, data, bits, transfer| Line {
            present,
            data,
            bits,
            transfer,
            words: Vec::new(),
        };
        Self {
            shown,
            lines: [
                line(config.miso.is_some(), MISO_DATA, MISO_BITS, MISO_TRANSFER),
                line(config.mosi.is_some(), MOSI_DATA, MOSI_BITS, MOSI_TRANSFER),
            ],
            bits: Vec::new(),
            selected_at: None,
        }
    }

    pub(super) fn take(&mut self, events: &[Event], out: &mut Vec<Annotation>) {
        for event in events {
            match event.kind {
                Kind::Word => self.word(event, out),
                Kind::Bit => self
                    .bits
                    .push((event.start, [event.miso != 0, event.mosi != 0])),
                Kind::Select => {
                    self.bits.clear();
                    self.selected_at = Some(event.start);
                }
                Kind::Deselect => {
                    self.bits.clear();
                    self.end_transfer(event.start, out);
                }
            }
        }
    }

    fn word(&mut self, event: &Event, out: &mut Vec<Annotation>) {
        self.word_bits(event.end, out);
        let values = [event.miso, event.mosi];
        for (line, value) in self.lines.iter_mut().zip(values) {
            if !line.present {
                continue;
            }
            if self.shown.has(line.data) {
                out.push(Annotation::number(event.start, event.end, line.data, value));
            }
            if self.selected_at.is_some() && self.shown.has(line.transfer) {
                line.words.push(value);
            }
        }
        if self
            .lines
            .iter()
            .any(|line| line.words.len() >= TRANSFER_WORDS_MAX)
        {
            self.end_transfer(event.end, out);
            self.selected_at = Some(event.end);
        }
    }

    /// Bits are shown once the word is complete, last bit first.
    fn word_bits(&mut self, word_end: u64, out: &mut Vec<Annotation>) {
        for (index, line) in self.lines.iter().enumerate() {
            if !line.present || !self.shown.has(line.bits) {
                continue;
            }
            let mut end = word_end;
            for (start, levels) in self.bits.iter().rev() {
                out.push(Annotation::bit(*start, end, line.bits, levels[index]));
                end = *start;
            }
        }
        self.bits.clear();
    }

    fn end_transfer(&mut self, end: u64, out: &mut Vec<Annotation>) {
        let Some(start) = self.selected_at.take() else {
            return;
        };
        for line in &mut self.lines {
            if line.present && self.shown.has(line.transfer) {
                let value = Value::Words(std::mem::take(&mut line.words).into_boxed_slice());
                out.push(Annotation {
                    start,
                    end,
                    class: line.transfer,
                    value,
                });
            }
        }
    }
}
