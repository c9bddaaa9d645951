//! Captures whose samples are on disk but not in the store: the capture's last record could not be
//! written, or the process ended in between.

use decode::analog::AnalogSegment;
use decode::segment::Segment;

use super::files::{ANALOG, Files, LOGIC};
use super::reader;
use store::captures::{CaptureRecord, Status};

/// The final record of an unfinished capture that has all its files. Files get their names only
/// when they are complete, so their presence is enough.
pub(super) fn recover(files: &Files, record: &CaptureRecord, now_ms: u64) -> Option<CaptureRecord> {
    let mut done = record.clone();
    let count = |digital: bool| {
        let channels = record.channels.iter();
        channels.filter(|c| c.la.is_some() == digital).count()
    };
    if record.channels.is_empty() {
        return None;
    }
    let mut logic = None;
    if count(true) > 0 {
        let bytes = reader::map(&files.path(&record.id, LOGIC)).ok()?;
        let segment = Segment::open(&bytes).ok()?;
        if segment.channels() != count(true) {
            return None;
        }
        logic = Some((segment.samples(), segment.sample_rate_hz()));
    }
    let mut analog = None;
    if count(false) > 0 {
        let bytes = reader::map(&files.path(&record.id, ANALOG)).ok()?;
        let segment = AnalogSegment::open(&bytes).ok()?;
        analog = Some((segment.samples(), segment.sample_rate_hz()));
    }
    for channel in &mut done.channels {
        let found = if channel.la.is_some() { logic } else { analog };
        (channel.samples, channel.sample_rate_hz) = found?;
    }
    done.status = Status::Done;
    done.size_bytes = Some(files.size_bytes(&record.id));
    // Where its trigger lies was noted before its samples got their names, unless it is their first.
    done.triggered = record.triggered.map(|_| true);
    done.finished_ms = Some(now_ms);
    Some(done)
}

#[cfg(test)]
mod tests;
