//! A stream read in all ways at once.

use super::automaton::Automaton;
use super::digits::{Base64, Hexadecimal};
use super::escapes::{Escapes, Language};
use super::hits::Hits;
use super::view::{Finder, Piece, Places, View};
use crate::plain::Plain;

/// Bytes that are read in one way before they are read in the next: they stay in the processor's cache, and most pieces
/// have no escape.
const PIECE_BYTES: usize = 4 << 10;

/// All ways to read a stream, and where they are in it.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    /// Bytes that were read.
    at: u64,
    plain: Plain,
    /// Of the bytes as they come, and of those that are seen.
    raw: View,
    seen: View,
    escapes: [Escapes; 5],
    hexadecimal: Hexadecimal,
    base64: Base64,
}

impl Reading {
    /// From this place of the stream on.
    pub(super) fn from(at: u64) -> Self {
        let languages = [
            Language::Url,
            Language::Form,
            Language::Backslash,
            Language::Quoted,
            Language::Html,
        ];
        Self {
            at,
            plain: Plain::default(),
            raw: View::default(),
            seen: View::default(),
            escapes: languages.map(Escapes::new),
            hexadecimal: Hexadecimal::default(),
            base64: Base64::default(),
        }
    }

    /// Takes what comes next.
    pub(super) fn feed(&mut self, bytes: &[u8], automaton: &Automaton, hits: &mut Hits) {
        let mut finder = Finder { automaton, hits };
        let (mut seen, mut places) = (Vec::new(), Vec::new());
        for piece in bytes.chunks(PIECE_BYTES) {
            let raw = Piece {
                bytes: piece,
                places: Places::From(self.at),
            };
            let before = self.seen.clone();
            if self.shows_all(piece) {
                self.read(raw, &before, &mut finder);
                match self.raw == before {
                    true => self.raw.clone_from(&self.seen),
                    false => self.raw.feed_all(raw, &mut finder),
                }
            } else {
                seen.clear();
                places.clear();
                for (place, byte) in (self.at..).zip(piece) {
                    if self.plain.shows(*byte) {
                        seen.push(*byte);
                        places.push(place);
                    }
                }
                let piece = Piece {
                    bytes: &seen,
                    places: Places::Each(&places),
                };
                self.read(piece, &before, &mut finder);
                self.raw.feed_all(raw, &mut finder);
            }
            self.at += piece.len() as u64;
        }
    }

    /// Whether all of these bytes are seen.
    fn shows_all(&self, bytes: &[u8]) -> bool {
        let is_plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t' | 0x80..);
        self.plain == Plain::Ground && bytes.iter().all(is_plain)
    }

    /// Reads what is seen. `before` is what the search in it was.
    fn read(&mut self, piece: Piece<'_>, before: &View, finder: &mut Finder<'_>) {
        self.seen.feed_all(piece, finder);
        for escapes in &mut self.escapes {
            escapes.feed(piece, (before, &self.seen), finder);
        }
        self.hexadecimal.feed(piece, finder);
        self.base64.feed(piece, finder);
    }

    /// Nothing more comes.
    pub(super) fn finish(&mut self, automaton: &Automaton, hits: &mut Hits) {
        let mut finder = Finder { automaton, hits };
        for escapes in &mut self.escapes {
            escapes.finish(&mut finder);
        }
    }

    /// Where what could become a secret begins; where what comes next does, if nothing could.
    pub(super) fn open_from(&self, automaton: &Automaton) -> u64 {
        let whole = [&self.raw, &self.seen].map(|view| view.open_from(automaton, 1));
        let escapes = self.escapes.iter().map(|e| e.open_from(automaton));
        let digits = [
            self.hexadecimal.open_from(automaton),
            self.base64.open_from(automaton),
        ];
        let all = whole.into_iter().chain(escapes).chain(digits);
        all.flatten().min().unwrap_or(self.at)
    }
}
