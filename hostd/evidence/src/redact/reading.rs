//! A stream read in all ways at once.

use super::automaton::Automaton;
use super::digits::{Base64, Hexadecimal};
use super::escapes::{Escapes, Language, UNSEEN, kinds};
use super::hits::Hits;
use super::view::{Finder, Piece, Places, View};
use crate::plain::Plain;

/// Bytes that are read in one way before they are read in the next: they stay in the processor's cache, and most pieces
/// have no escape.
const PIECE_BYTES: usize = 1 << 10;

/// All ways to read a stream, and where they are in it.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    /// Bytes that were read.
    at: u64,
    plain: Plain,
    /// Of those that are seen, and of the bytes as they come, unless it is the same.
    seen: View,
    raw: Option<View>,
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
            seen: View::default(),
            raw: None,
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
            let kinds = kinds(piece);
            let is_seen = self.plain == Plain::Ground && kinds & UNSEEN == 0;
            let before = match is_seen && self.is_one(kinds) {
                true => View::default(),
                false => self.seen.clone(),
            };
            if is_seen {
                self.read(raw, kinds, &before, &mut finder);
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
                self.read(piece, kinds, &before, &mut finder);
                self.raw.get_or_insert(before);
            }
            if let Some(view) = &mut self.raw {
                view.feed_all(raw, &mut finder);
                if *view == self.seen {
                    self.raw = None;
                }
            }
            self.at += piece.len() as u64;
        }
    }

    /// Whether all ways to read bytes of these kinds, but for digits, find the same.
    fn is_one(&self, kinds: u8) -> bool {
        kinds == 0 && self.raw.is_none() && self.escapes.iter().all(Escapes::follows)
    }

    /// Reads what is seen. `kinds` is of which kinds the bytes are, `before` what the search in them was.
    fn read(&mut self, piece: Piece<'_>, kinds: u8, before: &View, finder: &mut Finder<'_>) {
        self.seen.feed_all(piece, finder);
        for escapes in &mut self.escapes {
            escapes.feed(piece, kinds, (before, &self.seen), finder);
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
        let whole = [self.raw.as_ref(), Some(&self.seen)];
        let whole = whole.map(|view| view.and_then(|view| view.open_from(automaton, 1)));
        let escapes = self.escapes.iter().map(|e| e.open_from(automaton));
        let digits = [
            self.hexadecimal.open_from(automaton),
            self.base64.open_from(automaton),
        ];
        let all = whole.into_iter().chain(escapes).chain(digits);
        all.flatten().min().unwrap_or(self.at)
    }
}
