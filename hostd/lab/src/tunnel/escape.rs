//! The escape of a pod's raw UART mode: `+++` between two one-second pauses switches the connection
//! back to commands, which must not happen unnoticed.

use std::time::Duration;

/// The escape sequence.
const ESCAPE: &[u8; 3] = b"+++";

/// Half of a pod's own pause, so that an escape is noticed here first.
pub(crate) const ESCAPE_PAUSE: Duration = Duration::from_millis(500);

/// The last bytes of a UART session, oldest first, each with whether a pause was before it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Escape {
    recent: [(u8, bool); ESCAPE.len()],
}

impl Escape {
    /// A session has just begun, which is as good as a pause.
    pub(crate) const BEGIN: Self = Self {
        recent: [(0, true); ESCAPE.len()],
    };

    /// Bytes for the pod, sent `pause` after the previous ones.
    pub(crate) fn follow(&mut self, bytes: &[u8], pause: Duration) {
        let skipped = bytes.len().saturating_sub(ESCAPE.len());
        if skipped > 0 {
            self.recent = [(0, false); ESCAPE.len()];
        }
        let is_first = |at| skipped == 0 && at == 0 && pause >= ESCAPE_PAUSE;
        for (at, byte) in bytes[skipped..].iter().enumerate() {
            let unused = self.recent[ESCAPE.len() - 1] == (0, true);
            self.recent.rotate_left(1);
            self.recent[ESCAPE.len() - 1] = (*byte, is_first(at) || unused);
        }
    }

    /// Whether a pause of [`ESCAPE_PAUSE`] would complete it. Pauses between the three characters do
    /// not matter: pods differ in what they let pass.
    #[must_use]
    pub(crate) fn is_complete(&self) -> bool {
        self.recent[0].1 && self.recent.iter().map(|(byte, _)| byte).eq(ESCAPE)
    }
}
