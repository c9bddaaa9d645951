//! How fast a body must arrive: completely within its time, and never slower than a rate for longer
//! than a grace period. Otherwise a sender that trickles would hold its place for nearly the whole
//! time.
//!
//! Only time spent waiting for the sender counts, so a busy disk is never its fault.

use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame};
use http_body_util::BodyExt;
use tokio::time::{Instant, timeout};

/// The pace required of a sender.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// Time for the whole body.
    pub wait: Duration,
    /// Bytes per second; 0 is no limit.
    pub bytes_per_s_min: u32,
    /// Time over which the rate is measured.
    pub grace: Duration,
}

/// The sender is too slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TooSlow {
    #[error("the body did not arrive within {wait_ms} ms")]
    Whole { wait_ms: u64 },
    #[error("fewer than {bytes} bytes of the body arrived within {grace_ms} ms")]
    Rate { bytes: u64, grace_ms: u64 },
}

/// A body with its pace enforced.
#[derive(Debug)]
pub struct Paced<'b, B> {
    body: &'b mut B,
    pace: Pace,
    /// Time waited, and bytes received, since the rate was last checked.
    waited: Duration,
    bytes: u64,
}

impl Pace {
    /// All within `wait`, however slow in between.
    #[must_use]
    pub fn within(wait: Duration) -> Self {
        Self {
            wait,
            bytes_per_s_min: 0,
            grace: wait,
        }
    }

    /// The whole body took longer than its time.
    #[must_use]
    pub fn exceeded(&self) -> TooSlow {
        TooSlow::Whole {
            wait_ms: millis(self.wait),
        }
    }

    /// Bytes that must arrive within the grace period.
    fn bytes_min(&self) -> u64 {
        u64::from(self.bytes_per_s_min).saturating_mul(millis(self.grace)) / 1000
    }
}

impl<'b, B: Body<Data = Bytes> + Unpin> Paced<'b, B> {
    /// Enforce `pace` on `body`.
    pub fn new(body: &'b mut B, pace: Pace) -> Self {
        Self {
            body,
            pace,
            waited: Duration::ZERO,
            bytes: 0,
        }
    }

    /// The next frame. The caller enforces the total time, with [`Pace::wait`].
    ///
    /// # Errors
    /// Too little has arrived.
    pub async fn frame(&mut self) -> Result<Option<Result<Frame<Bytes>, B::Error>>, TooSlow> {
        let bytes_min = self.pace.bytes_min();
        if bytes_min == 0 {
            return Ok(self.body.frame().await);
        }
        loop {
            let left = self.pace.grace.saturating_sub(self.waited);
            let began = Instant::now();
            if let Ok(frame) = timeout(left, self.body.frame()).await {
                self.waited += began.elapsed();
                if let Some(Ok(frame)) = &frame {
                    self.bytes += frame.data_ref().map_or(0, |data| data.len() as u64);
                }
                return Ok(frame);
            }
            if self.bytes < bytes_min {
                return Err(TooSlow::Rate {
                    bytes: bytes_min,
                    grace_ms: millis(self.pace.grace),
                });
            }
            self.waited = Duration::ZERO;
            self.bytes = 0;
        }
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use tokio::sync::mpsc;

    use super::*;

    const PACE: Pace = Pace {
        wait: Duration::from_secs(3600),
        bytes_per_s_min: 10,
        grace: Duration::from_secs(10),
    };

    struct Sent(mpsc::Receiver<usize>);

    impl Body for Sent {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            let next = self.0.poll_recv(cx);
            next.map(|size| size.map(|size| Ok(Frame::data(Bytes::from(vec![0; size])))))
        }
    }

    /// What becomes of a body that comes in parts of `bytes`, one every `pause`.
    async fn arrive(bytes: usize, pause: Duration, parts: usize) -> Result<usize, TooSlow> {
        let (sender, receiver) = mpsc::channel(1);
        tokio::spawn(async move {
            for _ in 0..parts {
                tokio::time::sleep(pause).await;
                let _ = sender.send(bytes).await;
            }
        });
        let mut body = Sent(receiver);
        let mut paced = Paced::new(&mut body, PACE);
        let mut all = 0;
        while let Some(frame) = paced.frame().await? {
            all += frame.map_or(0, |frame| frame.into_data().map_or(0, |data| data.len()));
        }
        Ok(all)
    }

    #[tokio::test(start_paused = true)]
    async fn a_trickle_is_cut_and_a_slow_sender_is_not() {
        let second = Duration::from_secs(1);
        let cut = TooSlow::Rate {
            bytes: 100,
            grace_ms: 10_000,
        };
        assert_eq!(arrive(9, second, 1000).await, Err(cut));
        assert_eq!(arrive(1, second * 9, 1000).await, Err(cut));
        assert_eq!(arrive(0, second, 1000).await, Err(cut));
        assert_eq!(arrive(12, second, 1000).await, Ok(12_000));
        // In loads with pauses between them; and a short one however slow, within the grace.
        assert_eq!(arrive(200, second * 9, 100).await, Ok(20_000));
        assert_eq!(arrive(1, second * 4, 2).await, Ok(2));
    }

    #[tokio::test(start_paused = true)]
    async fn a_stall_after_much_is_cut_too() {
        let (sender, receiver) = mpsc::channel(8);
        let mut body = Sent(receiver);
        let mut paced = Paced::new(&mut body, PACE);
        for _ in 0..8 {
            sender.send(1 << 20).await.unwrap();
            paced.frame().await.unwrap();
        }
        let began = Instant::now();
        assert!(paced.frame().await.is_err());
        assert!(began.elapsed() <= PACE.grace * 2);
    }

    #[tokio::test(start_paused = true)]
    async fn time_that_the_server_takes_is_not_the_senders() {
        let (sender, receiver) = mpsc::channel(1);
        let mut body = Sent(receiver);
        let mut paced = Paced::new(&mut body, PACE);
        for _ in 0..9 {
            sender.send(1).await.unwrap();
            tokio::time::sleep(PACE.grace).await;
            paced.frame().await.unwrap();
        }
        drop(sender);
        assert!(paced.frame().await.unwrap().is_none());
    }
}
