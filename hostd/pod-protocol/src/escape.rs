//! The end of a raw UART mode from the client's side: a second of silence, `+++`, and a second of silence.

use tokio::time::{Duration, Instant};

/// Silence required before and after the escape sequence.
pub const GUARD: Duration = Duration::from_secs(1);

const ESCAPE_BYTES: usize = 3;

/// Watches what a client sends for the escape.
#[derive(Debug)]
pub struct Escape {
    last: Instant,
    pluses: Option<usize>,
}

impl Escape {
    /// The raw mode begins now.
    #[allow(clippy::new_without_default, reason = "it begins at an instant")]
    pub fn new() -> Self {
        Self {
            last: Instant::now(),
            pluses: None,
        }
    }

    /// The client sent these bytes.
    pub fn sent(&mut self, bytes: &[u8]) {
        let now = Instant::now();
        if now - self.last >= GUARD {
            self.pluses = Some(0);
        }
        self.last = now;
        let only_pluses = bytes.iter().all(|byte| *byte == b'+');
        self.pluses = self
            .pluses
            .map(|pluses| pluses + bytes.len())
            .filter(|pluses| only_pluses && *pluses <= ESCAPE_BYTES);
    }

    /// Whether silence until [`complete`](Self::complete) would end the mode.
    pub fn is_pending(&self) -> bool {
        self.pluses == Some(ESCAPE_BYTES)
    }

    /// When the silence after the last byte is long enough.
    pub fn complete(&self) -> Instant {
        self.last + GUARD
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn only_three_pluses_between_two_silences_end_it() {
        for (parts, ends) in [
            (&["+++"][..], true),
            (&["+", "+", "+"], true),
            (&["++++"], false),
            (&["++"], false),
            (&["a", "+++"], false),
            (&["+++", "b"], false),
        ] {
            let mut escape = Escape::new();
            tokio::time::advance(GUARD).await;
            for part in parts {
                escape.sent(part.as_bytes());
            }
            assert_eq!(escape.is_pending(), ends, "{parts:?}");
        }
        let mut early = Escape::new();
        early.sent(b"+++");
        assert!(!early.is_pending());
    }
}
