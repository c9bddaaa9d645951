//! What fuzzers and the seeded tests feed with foreign bytes: one entry for each kind of input.

use std::io::Cursor;

use crate::junit::{self, Bounds};
use crate::log::{Piece, Reader, recover};
use crate::redact::Secrets;

/// Any bytes as a log and its index, which the first two bytes divide: what is read is what is whole,
/// with the index and without.
///
/// # Panics
/// When what was read contradicts itself.
pub fn log(bytes: &[u8]) {
    let Some((split, rest)) = bytes.split_first_chunk::<2>() else {
        return;
    };
    let split = usize::from(u16::from_le_bytes(*split)).min(rest.len());
    let (index, log) = rest.split_at(split);
    let whole = recover(&mut Cursor::new(log)).expect("memory can be read");
    assert!(whole.file_bytes <= log.len() as u64 && whole.bytes <= log.len() as u64);
    let (all, missing) = read(log, &[], 0);
    assert_eq!((all.len() as u64, missing), (whole.bytes, whole.dropped));
    for offset in [0, 1, whole.bytes / 2, whole.bytes, u64::MAX] {
        let from = usize::try_from(offset).unwrap_or(usize::MAX);
        let (indexed, _) = read(log, index, offset);
        // A place in a foreign index may lead to a frame behind a damaged one, which is whole too.
        if index.is_empty() {
            assert_eq!(indexed, all.get(from..).unwrap_or_default());
        }
        assert!(indexed.len() <= log.len());
    }
}

fn read(log: &[u8], index: &[u8], offset: u64) -> (Vec<u8>, u64) {
    let mut reader = Reader::new(Cursor::new(log), index, offset).expect("memory can be read");
    let (mut all, mut missing) = (Vec::new(), 0_u64);
    let mut next = offset;
    while let Some(piece) = reader.next_piece().expect("memory can be read") {
        match piece {
            Piece::Output { offset, bytes, .. } => {
                assert_eq!(offset, next);
                next += bytes.len() as u64;
                all.extend(bytes);
            }
            Piece::Dropped(bytes) => missing = missing.wrapping_add(bytes),
        }
    }
    (all, missing)
}

/// Any bytes as a JUnit file that a test wrote.
///
/// # Panics
/// When what was read is over a bound, or cannot be written and read again.
pub fn junit(bytes: &[u8]) {
    let bounds = Bounds {
        bytes_max: 1 << 16,
        cases_max: 50,
        depth_max: 12,
        text_max: 200,
    };
    let Ok(cases) = junit::read(bytes, &bounds) else {
        return;
    };
    assert!(cases.len() <= 50);
    assert!(
        cases
            .iter()
            .all(|case| case.output.len() <= 200 && case.name.len() <= 402)
    );
    let count = cases.len();
    let job = crate::result::JobResult {
        runs: vec![crate::result::RunResult {
            cases,
            ..Default::default()
        }],
        ..Default::default()
    };
    let mut again = Vec::new();
    junit::write(&job, &mut again).expect("memory can be written");
    let again = junit::read(&again, &Bounds::default()).expect("what we write is JUnit");
    assert_eq!(again.len(), count);
}

/// Any bytes with secrets in them, which the first byte cuts into reads: none is left, and the cuts
/// change nothing.
///
/// # Panics
/// When a secret is left, or a cut is seen.
pub fn redaction(bytes: &[u8]) {
    let Some((cut, bytes)) = bytes.split_first() else {
        return;
    };
    let secrets = [("A", b"abababab".as_slice()), ("B", b"s3cr3t+t0ken\nabab")];
    let secrets = Secrets::new(secrets).expect("they are long enough");
    let whole = secrets.redacted(bytes);
    let mut redactor = secrets.redactor();
    let mut parts = Vec::new();
    for part in bytes.chunks(usize::from(*cut).max(1)) {
        redactor.push(part, &mut parts);
    }
    redactor.finish(&mut parts);
    assert_eq!(parts, whole);
    assert!(!whole.windows(8).any(|window| window == b"abababab"));
}

#[cfg(test)]
mod tests;
