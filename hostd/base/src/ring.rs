//! A ring with one writer and many readers, each at its own position: a reader learns of pieces
//! that were overwritten before it read them, never skips them silently, and never slows the
//! writer.
//!
//! Positions count from the ring's start position and only grow. A piece covers one or several of
//! them (a message one, a run of bytes one each), and a reader may begin inside a piece.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Most pieces that a ring holds, whatever their size.
pub(crate) const PIECES_MAX: usize = 16 << 10;

/// What a ring holds.
pub trait Piece: Clone + Send {
    /// Positions it covers, at least 1.
    fn positions(&self) -> u64;

    /// Bytes it takes.
    fn weight(&self) -> usize;

    /// What is left of it after its first `positions`, less than all.
    #[must_use]
    fn after(&self, positions: u64) -> Self;

    /// Merge the following piece into this one, if the result has a sensible size.
    fn absorb(&mut self, _next: &Self) -> bool {
        false
    }
}

/// A piece of one position, shared by its readers.
pub trait Whole: Send + Sync {
    /// Bytes it takes.
    fn weight(&self) -> usize;
}

impl<T: Whole> Piece for Arc<T> {
    fn positions(&self) -> u64 {
        1
    }

    fn weight(&self) -> usize {
        T::weight(self)
    }

    fn after(&self, _positions: u64) -> Self {
        self.clone()
    }
}

/// The writing end. Dropping it closes the ring.
#[derive(Debug)]
pub struct Ring<T> {
    shared: Arc<Shared<T>>,
}

/// A reader's place.
#[derive(Debug)]
pub struct Cursor<T> {
    shared: Arc<Shared<T>>,
    at: u64,
}

/// What a reader finds next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found<T> {
    /// A piece, or what is left of one, that begins at this position.
    Piece { at: u64, piece: T },
    /// These positions, excluding `to`, are gone.
    Lost { from: u64, to: u64 },
}

#[derive(Debug)]
struct Shared<T> {
    state: Mutex<State<T>>,
    changed: Notify,
}

#[derive(Debug)]
struct State<T> {
    /// Each with its start position; without gaps, so that the last one ends at `end`.
    pieces: VecDeque<(u64, T)>,
    end: u64,
    weight: usize,
    weight_max: usize,
    closed: bool,
}

impl<T: Piece> Ring<T> {
    /// A ring that begins at position `start` and holds at most `weight_max` bytes, but always the
    /// last piece.
    #[must_use]
    pub fn new(start: u64, weight_max: usize) -> Self {
        let state = State {
            pieces: VecDeque::new(),
            end: start,
            weight: 0,
            weight_max,
            closed: false,
        };
        Self {
            shared: Arc::new(Shared {
                state: Mutex::new(state),
                changed: Notify::new(),
            }),
        }
    }

    /// Add a piece at the end; the oldest pieces beyond the limits are dropped.
    pub fn push(&self, piece: T) {
        self.shared.state().push(piece);
        self.shared.changed.notify_waiters();
    }

    /// Drop all pieces.
    pub fn clear(&self) {
        let mut state = self.shared.state();
        state.pieces.clear();
        state.weight = 0;
    }

    /// The position after the last piece.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.shared.state().end
    }

    /// The oldest position that can still be read; the end when there is none.
    #[must_use]
    pub fn start(&self) -> u64 {
        self.shared.state().start()
    }

    /// A reader whose next position is `at`. A position that the ring has not reached counts as
    /// lost, like one that it has dropped: the reader continues with the oldest piece.
    #[must_use]
    pub fn cursor(&self, at: u64) -> Cursor<T> {
        Cursor {
            shared: self.shared.clone(),
            at,
        }
    }

    /// A reader at the first piece for which `wanted` is true, or at the end if there is none.
    #[must_use]
    pub fn cursor_where(&self, wanted: impl Fn(&T) -> bool) -> Cursor<T> {
        let state = self.shared.state();
        let found = state.pieces.iter().find(|(_, piece)| wanted(piece));
        let at = found.map_or(state.end, |(at, _)| *at);
        drop(state);
        self.cursor(at)
    }
}

impl<T> Drop for Ring<T> {
    fn drop(&mut self) {
        self.shared.state().closed = true;
        self.shared.changed.notify_waiters();
    }
}

impl<T: Piece> Cursor<T> {
    /// Waits for the next piece. None when the ring is closed and read to its end. Safe to cancel.
    pub async fn next(&mut self) -> Option<Found<T>> {
        let shared = self.shared.clone();
        loop {
            let changed = shared.changed.notified();
            tokio::pin!(changed);
            // Start listening before checking, so that no push is missed in between.
            changed.as_mut().enable();
            {
                let state = shared.state();
                if let Some(found) = state.find(self.at) {
                    self.at = match &found {
                        Found::Piece { at, piece } => at + piece.positions(),
                        Found::Lost { to, .. } => *to,
                    };
                    return Some(found);
                }
                if state.closed {
                    return None;
                }
            }
            changed.await;
        }
    }

    /// The next position to read.
    #[must_use]
    pub fn at(&self) -> u64 {
        self.at
    }
}

impl<T> Shared<T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        // A push that panics halfway leaves the pieces whole and in order.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Piece> State<T> {
    fn start(&self) -> u64 {
        self.pieces.front().map_or(self.end, |(at, _)| *at)
    }

    fn push(&mut self, piece: T) {
        let at = self.end;
        self.end += piece.positions();
        let merged = self.pieces.back_mut().is_some_and(|(_, last)| {
            let before = last.weight();
            let merged = last.absorb(&piece);
            self.weight += last.weight() - before;
            merged
        });
        if !merged {
            self.weight += piece.weight();
            self.pieces.push_back((at, piece));
        }
        let over = |state: &Self| state.weight > state.weight_max;
        while (over(self) || self.pieces.len() > PIECES_MAX) && self.pieces.len() > 1 {
            if let Some((_, oldest)) = self.pieces.pop_front() {
                self.weight -= oldest.weight();
            }
        }
    }

    fn find(&self, at: u64) -> Option<Found<T>> {
        let start = self.start();
        if at < start || at > self.end {
            return Some(Found::Lost {
                from: at,
                to: start,
            });
        }
        let after = self.pieces.partition_point(|(begins, _)| *begins <= at);
        let (begins, piece) = self.pieces.get(after.checked_sub(1)?)?;
        let inside = at - begins;
        if inside >= piece.positions() {
            return None;
        }
        let piece = match inside {
            0 => piece.clone(),
            inside => piece.after(inside),
        };
        Some(Found::Piece { at, piece })
    }
}

#[cfg(test)]
mod tests;
