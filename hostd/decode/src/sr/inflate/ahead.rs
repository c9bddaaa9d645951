//! Entries that are read block by block on a thread of their own, a few blocks ahead of who looks at them.

use super::super::zip::Entry;
use super::super::{PieceVisitor, SrError};
use super::buffer::Buffer;
use super::seam::Seam;
use super::stream::Stream;
use std::ops::ControlFlow;
use std::slice::from_ref;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Blocks on their way: one that is looked at, one that is read, and one that waits.
const BLOCKS: usize = 3;

/// A block that was read.
type Read = Result<Buffer, SrError>;

/// Passes entries of samples of `unit` bytes on.
pub(super) fn visit(
    entries: &[Entry<'_>],
    unit: usize,
    seam: &mut Seam,
    visitor: PieceVisitor<'_>,
) -> Result<ControlFlow<()>, SrError> {
    let (give, empty) = sync_channel(BLOCKS);
    let (full, take) = sync_channel(BLOCKS);
    for _ in 0..BLOCKS {
        let _ = give.try_send(Buffer::default());
    }
    let behind = (&mut *seam, &mut *visitor);
    let looked = thread::scope(|scope| {
        let reader = thread::Builder::new().name("inflate".to_owned());
        let begun = reader.spawn_scoped(scope, move || {
            read_all(entries, unit, &empty, &full);
        });
        // Its ends of both queues are dropped with it: who has seen enough, or panics, must not keep the reader waiting.
        begun
            .is_ok()
            .then(move || look(take, give, behind.0, behind.1))
    });
    match looked {
        Some(flow) => flow,
        None => in_turn(entries, unit, seam, visitor),
    }
}

/// The same where there is no thread to be had.
fn in_turn(
    entries: &[Entry<'_>],
    unit: usize,
    seam: &mut Seam,
    visitor: PieceVisitor<'_>,
) -> Result<ControlFlow<()>, SrError> {
    let mut buffer = Buffer::default();
    for entry in entries {
        let mut stream = Stream::new(entry, unit);
        let mut is_last = false;
        while !is_last {
            is_last = stream.read(&mut buffer)?;
            if seam.show(from_ref(&buffer), visitor).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
    }
    Ok(ControlFlow::Continue(()))
}

fn read_all(entries: &[Entry<'_>], unit: usize, empty: &Receiver<Buffer>, full: &SyncSender<Read>) {
    for entry in entries {
        if !read(Stream::new(entry, unit), empty, full) {
            return;
        }
    }
}

/// Returns whether more is wanted.
fn read(mut stream: Stream<'_>, empty: &Receiver<Buffer>, full: &SyncSender<Read>) -> bool {
    while let Ok(mut buffer) = empty.recv() {
        let read = stream.read(&mut buffer);
        let (is_last, is_damaged) = (matches!(read, Ok(true)), read.is_err());
        let is_gone = full.send(read.map(|_| buffer)).is_err();
        if is_damaged || is_gone {
            return false;
        }
        if is_last {
            return true;
        }
    }
    false
}

fn look(
    take: Receiver<Read>,
    give: SyncSender<Buffer>,
    seam: &mut Seam,
    visitor: PieceVisitor<'_>,
) -> Result<ControlFlow<()>, SrError> {
    while let Ok(read) = take.recv() {
        let buffer = read?;
        if seam.show(from_ref(&buffer), visitor).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        let _ = give.try_send(buffer);
    }
    Ok(ControlFlow::Continue(()))
}
