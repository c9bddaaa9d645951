//! Arbitrary bytes as what a child sends.

use crate::artifact;
use crate::runner::Event;
use crate::wire::{ARTIFACT_BYTES_MAX, ARTIFACTS_MAX, Listener};

/// Understands `bytes`, in pieces whose length the first of them says: each artifact is within bounds, or they are refused.
///
/// # Panics
/// If that does not hold.
pub fn frames(bytes: &[u8]) {
    let piece = bytes.first().map_or(1, |first| usize::from(*first) + 1);
    let (mut listener, mut count) = (Listener::default(), 0);
    for piece in bytes.chunks(piece) {
        let pushed = listener.push(piece, &mut |event| {
            if let Event::Made(made) = event {
                count += 1;
                assert!(artifact::is_name(&made.name) && artifact::is_type(&made.content_type));
                assert!(made.bytes.len() <= ARTIFACT_BYTES_MAX);
            }
        });
        assert!(count <= ARTIFACTS_MAX);
        if pushed.is_err() {
            return;
        }
    }
    let _ = listener.end();
}
