//! Samples that are split between two blocks. sigrok does not split samples, but nothing in the format forbids it.

use super::super::{Piece, PieceVisitor};
use super::buffer::Buffer;
use std::ops::ControlFlow;

/// Puts samples together again.
pub(super) struct Seam {
    unit: usize,
    held: Vec<u8>,
}

impl Seam {
    pub(super) fn new(unit: usize) -> Self {
        Self {
            unit,
            held: Vec::with_capacity(unit),
        }
    }

    /// Passes on what is in some buffers.
    pub(super) fn show(
        &mut self,
        buffers: &[Buffer],
        visitor: PieceVisitor<'_>,
    ) -> ControlFlow<()> {
        for piece in buffers.iter().flat_map(Buffer::pieces) {
            match piece {
                Piece::Samples(raw) => self.take(raw, visitor)?,
                Piece::Repeated { .. } if self.held.is_empty() => visitor(piece)?,
                Piece::Repeated { samples, times } => {
                    for _ in 0..times {
                        self.take(samples, visitor)?;
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn take(&mut self, raw: &[u8], visitor: PieceVisitor<'_>) -> ControlFlow<()> {
        let mut raw = raw;
        if !self.held.is_empty() {
            let (missing, rest) = raw.split_at(raw.len().min(self.unit - self.held.len()));
            self.held.extend_from_slice(missing);
            raw = rest;
            if self.held.len() < self.unit {
                return ControlFlow::Continue(());
            }
            visitor(Piece::Samples(&self.held))?;
            self.held.clear();
        }
        let (whole, rest) = raw.split_at(raw.len() / self.unit * self.unit);
        if !whole.is_empty() {
            visitor(Piece::Samples(whole))?;
        }
        self.held.extend_from_slice(rest);
        ControlFlow::Continue(())
    }
}
