//! One way to read a stream, and the search for secrets in what is read: as it is, with escapes of some language resolved,
//! or decoded from hexadecimal digits or base 64.
//!
//! Decoding the stream, rather than encoding each secret, finds every way in which a language can say it: which characters
//! are escaped, how, and how long lines are.

use std::collections::VecDeque;

use super::automaton::Automaton;
use super::hits::Hits;

/// A search in bytes that each stand for some bytes of the stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct View {
    state: u32,
    /// Where the bytes began that the state stands for.
    starts: VecDeque<u64>,
}

/// What a search needs, and what it finds.
pub(super) struct Finder<'f> {
    pub(super) automaton: &'f Automaton,
    pub(super) hits: &'f mut Hits,
}

/// A piece of a stream, and where each of its bytes is.
#[derive(Clone, Copy)]
pub(super) struct Piece<'p> {
    pub(super) bytes: &'p [u8],
    pub(super) places: Places<'p>,
}

/// Where bytes are in the stream.
#[derive(Clone, Copy)]
pub(super) enum Places<'p> {
    /// One behind the other, from here.
    From(u64),
    Each(&'p [u64]),
}

impl Places<'_> {
    pub(super) fn at(self, index: usize) -> u64 {
        match self {
            Self::From(from) => from + index as u64,
            Self::Each(places) => places[index],
        }
    }
}

impl View {
    /// Takes a byte that is read from the bytes of the stream from `start` to before `end`.
    pub(super) fn feed(&mut self, byte: u8, start: u64, end: u64, finder: &mut Finder<'_>) {
        let automaton = finder.automaton;
        if self.state == 0 && !automaton.begins(byte) {
            return;
        }
        self.state = automaton.step(self.state, byte);
        self.starts.push_back(start);
        let gone = self.starts.len() - automaton.depth(self.state);
        match gone {
            0 => {}
            // A needle of one letter, or of few, goes on and on.
            1 => {
                self.starts.pop_front();
            }
            _ if self.state == 0 => self.starts.clear(),
            _ => drop(self.starts.drain(..gone)),
        }
        if let Some(bytes) = automaton.hit(self.state) {
            finder.hits.add(self.starts[self.starts.len() - bytes], end);
        }
    }

    /// Takes bytes that stand for themselves.
    pub(super) fn feed_all(&mut self, piece: Piece<'_>, finder: &mut Finder<'_>) {
        let mut index = 0;
        while index < piece.bytes.len() {
            if self.state == 0 {
                let Some(skipped) = finder.automaton.next_begin(&piece.bytes[index..]) else {
                    return;
                };
                index += skipped;
            }
            let place = piece.places.at(index);
            self.feed(piece.bytes[index], place, place + 1, finder);
            index += 1;
        }
    }

    /// What comes next does not belong to what came.
    pub(super) fn reset(&mut self) {
        if self.state != 0 {
            self.state = 0;
            self.starts.clear();
        }
    }

    /// Whether nothing that came could be the beginning of a secret.
    pub(super) fn is_at_start(&self) -> bool {
        self.state == 0
    }

    /// Where what could become a secret begins, if it has at least so many bytes.
    pub(super) fn open_from(&self, automaton: &Automaton, least: usize) -> Option<u64> {
        let open = automaton.open(self.state);
        (open >= least.max(1)).then(|| self.starts[self.starts.len() - open])
    }
}
