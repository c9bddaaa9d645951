//! Merges the annotations of two lines into one stream.
//!
//! sigrok prints an annotation when it reaches the sample that decides it, RX before TX within one
//! sample. We decode one line after the other and a frame at a time, so annotations wait here until
//! neither line can still produce an earlier one.

use crate::annotation::Annotation;

/// When an annotation is printed: its sample, then its line, frames before breaks.
type Due = (u64, u8);

/// Annotations waiting to be printed.
#[derive(Default)]
pub(super) struct Queue(Vec<(Due, Annotation)>);

impl Queue {
    #[inline]
    pub(super) fn put(&mut self, due: u64, line: u8, annotation: Annotation) {
        self.0.push(((due, line * 2), annotation));
    }

    pub(super) fn put_break(&mut self, due: u64, line: u8, annotation: Annotation) {
        self.0.push(((due, line * 2 + 1), annotation));
    }

    /// Moves everything due before sample `end` to `out`, in order.
    pub(super) fn release(&mut self, end: u64, out: &mut Vec<Annotation>) {
        let Self(waiting) = self;
        if !waiting.is_sorted_by_key(|(due, _)| *due) {
            waiting.sort_by_key(|(due, _)| *due);
        }
        let ready = waiting.partition_point(|((due, _), _)| *due < end);
        out.extend(waiting.drain(..ready).map(|(_, annotation)| annotation));
    }
}
