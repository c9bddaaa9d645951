//! Where fuzzers and the seeded tests feed in untrusted bytes: one function for each kind of input.

use std::io::Cursor;

use crate::junit::{self, Bounds};
use crate::log::{Piece, Reader, recover};
use crate::redact::Secrets;

/// Arbitrary bytes as a log and its index; the first two bytes say where to divide them. Exactly what
/// is whole must be read, with the index and without.
///
/// # Panics
/// If what was read contradicts itself.
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
        // An entry of an untrusted index may lead to a frame after a damaged one, which is whole
        // too.
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

/// Arbitrary bytes as a JUnit file that a test wrote.
///
/// # Panics
/// If what was read exceeds a bound, or cannot be written and read again.
pub fn junit(bytes: &[u8]) {
    let bounds = Bounds {
        bytes_max: 1 << 16,
        depth_max: 12,
        text_max: 200,
    };
    let Ok(cases) = junit::read_all(bytes, &bounds) else {
        return;
    };
    assert!(
        cases
            .iter()
            .all(|case| case.output.len() <= 200 && case.name.len() <= 402)
    );
    let count = cases.len();
    let job = crate::result::JobResult {
        runs: vec![crate::result::RunResult::default().with_cases(cases)],
        ..Default::default()
    };
    let mut again = Vec::new();
    junit::write(&job, &mut again).expect("memory can be written");
    let again = junit::read_all(&again, &Bounds::default()).expect("what we write is JUnit");
    assert_eq!(again.len(), count);
}

/// Arbitrary bytes that contain secrets, cut into reads as the first byte says: no secret remains.
///
/// # Panics
/// If a secret remains.
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
    for redacted in [parts, whole] {
        let seen = crate::plain::text(&String::from_utf8_lossy(&redacted));
        assert!(!seen.contains("abababab") && !seen.contains("s3cr3t+t0ken"));
        assert!(!redacted.windows(8).any(|window| window == b"abababab"));
    }
}

#[cfg(test)]
mod tests;
