//! A fuzz entry: any bytes as what an HTTP/2 client sends, whole and in pieces.

use super::{Frame, Frames, HEAD_BYTES, PREFACE, read};

/// The frames found in these pieces.
pub(super) fn heads<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Vec<Frame> {
    let mut frames = Frames::default();
    let mut found = Vec::new();
    for piece in pieces {
        frames.pass(piece, |frame| found.push(frame));
    }
    found
}

/// The same, read from the whole input in the simplest way.
fn plainly(bytes: &[u8]) -> Vec<Frame> {
    let mut found = Vec::new();
    let Some(mut rest) = bytes.strip_prefix(PREFACE) else {
        return found;
    };
    while let Some((head, behind)) = rest.split_first_chunk::<HEAD_BYTES>() {
        let frame = read(*head);
        found.push(frame);
        rest = behind.get(frame.length as usize..).unwrap_or_default();
    }
    found
}

/// Reads the bytes after a preface, in pieces of the length that the first byte gives, and all at
/// once; then the bytes without a preface, which are hardly ever HTTP/2.
///
/// # Panics
/// If the results differ. Nothing else may panic.
pub fn frames(data: &[u8]) {
    let Some((longest, bytes)) = data.split_first() else {
        return;
    };
    let longest = usize::from(*longest).max(1);
    for bytes in [bytes.to_vec(), [PREFACE, bytes].concat()] {
        let once = heads(std::iter::once(&*bytes));
        assert_eq!(once, plainly(&bytes), "{}", bytes.escape_ascii());
        assert_eq!(
            once,
            heads(bytes.chunks(longest)),
            "{}",
            bytes.escape_ascii()
        );
    }
}
