//! A break on the line of a serial port: after what was sent before, as long as asked for, and ended for sure.

use std::io;
use std::sync::Arc;

use tokio::sync::oneshot;
use tokio::time::{Duration, Instant, sleep, sleep_until, timeout_at};

use super::Uart;
use crate::tty::Tty;

/// Longest wait before a break for bytes to be sent that were given before it.
pub(super) const AHEAD_MAX: Duration = Duration::from_secs(5);

/// How often a port is asked to end a break, before it is opened anew.
const RELEASES_MAX: u32 = 4;

/// Pause after each refusal.
const RELEASE_PAUSE: Duration = Duration::from_millis(100);

/// A wish to hold the target's receive line low.
#[derive(Debug)]
pub(super) struct Break {
    pub(super) lasts: Duration,
    /// Learns how it went.
    pub(super) done: oneshot::Sender<io::Result<()>>,
}

impl Break {
    /// Holds the line of a port low, once what was written is sent, unless nobody waits for it any more. A port that
    /// does not let go of it is given up.
    pub(super) async fn hold(&self, uart: &Uart, port: &Arc<Tty>, sent: Instant) -> io::Result<()> {
        let until = Instant::now() + AHEAD_MAX;
        let drained = timeout_at(until, port.drain()).await;
        drained.map_err(|_| unsent())??;
        // The device has bytes of its own to send.
        sleep_until(sent.min(until)).await;
        if self.done.is_closed() {
            return Ok(());
        }
        port.hold_low(true).await?;
        sleep(self.lasts).await;
        let released = release(|| port.hold_low(false)).await;
        if released.is_err() {
            uart.give_up(port);
        }
        released
    }
}

/// Ends a break, in several attempts if need be.
async fn release<R>(mut attempt: impl FnMut() -> R) -> io::Result<()>
where
    R: Future<Output = io::Result<()>>,
{
    for _ in 1..RELEASES_MAX {
        if attempt().await.is_ok() {
            return Ok(());
        }
        sleep(RELEASE_PAUSE).await;
    }
    attempt().await
}

pub(super) fn unsent() -> io::Error {
    io::Error::other("the serial port is busy with bytes from before the break")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often the end of a break is asked for of a port that refuses so often first, and what comes of it.
    async fn attempts(refusals: u32) -> (u32, bool) {
        let mut count = 0;
        let released = release(|| {
            count += 1;
            let is_done = count > refusals;
            async move { is_done.then_some(()).ok_or_else(|| io::Error::other("no")) }
        });
        let is_released = released.await.is_ok();
        (count, is_released)
    }

    #[tokio::test(start_paused = true)]
    async fn a_break_is_ended_in_a_few_attempts_or_not_at_all() {
        assert_eq!(attempts(0).await, (1, true));
        assert_eq!(attempts(1).await, (2, true));
        assert_eq!(attempts(RELEASES_MAX - 1).await, (RELEASES_MAX, true));
        assert_eq!(attempts(RELEASES_MAX).await, (RELEASES_MAX, false));
    }
}
