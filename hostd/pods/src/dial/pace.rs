//! How fast a pod is sent to. It keeps about 16 KB of frames that it has not read, and drops the link when there are more.
//!
//! After a few frames the pod is asked for a sign that it has read them; until it comes, only so much is sent. Besides,
//! the rate is that of published clients, for pods that give the sign before they have found room for what they read.

use std::collections::VecDeque;
use std::time::Duration;

use pod_protocol::dial::{POD_BUFFER_BYTES, TO_POD_BYTES_MAX};
use tokio::time::Instant;

/// Bytes of frames that the pod may not have read yet.
const WINDOW_BYTES: usize = POD_BUFFER_BYTES / 4 * 3;

/// A sign is asked for after so many bytes.
const SIGN_AFTER_BYTES: usize = 4 * 1024;

/// Bytes of frames in a second: 128 KiB of data in frames of 1024 bytes each.
const BYTES_PER_S: usize = 180 * 1024;

/// A pod that has read nothing for so long is taken for stuck.
pub(super) const STUCK_AFTER: Duration = Duration::from_secs(15);

/// What was sent and what of it was read.
#[derive(Debug)]
pub(super) struct Pace {
    /// Bytes for which a sign was asked, by sign.
    asked: VecDeque<usize>,
    /// Bytes since then.
    since: usize,
    /// When the pod last gave a sign, or was first asked for one.
    sign: Instant,
    /// When everything sent so far would have gone out at the rate.
    paid: Instant,
}

/// Whether one more frame may go.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Now.
    Now,
    /// At this time.
    At(Instant),
    /// When the pod has read more, which it must by this time.
    AfterSign(Instant),
}

impl Pace {
    pub(super) fn new() -> Self {
        Self {
            asked: VecDeque::new(),
            since: 0,
            sign: Instant::now(),
            paid: Instant::now(),
        }
    }

    /// Whether a frame of any length may go.
    pub(super) fn turn(&self) -> Turn {
        let unread = self.since + self.asked.iter().sum::<usize>();
        if unread + TO_POD_BYTES_MAX > WINDOW_BYTES {
            return Turn::AfterSign(self.sign + STUCK_AFTER);
        }
        let from = self.paid.checked_sub(time_of(WINDOW_BYTES));
        match from {
            Some(from) if Instant::now() < from => Turn::At(from),
            _ => Turn::Now,
        }
    }

    /// A frame goes out. Whether a sign is to be asked for after it.
    pub(super) fn sent(&mut self, bytes: usize) -> bool {
        let now = Instant::now();
        self.paid = self.paid.max(now) + time_of(bytes);
        self.since += bytes;
        if self.since < SIGN_AFTER_BYTES {
            return false;
        }
        if self.asked.is_empty() {
            self.sign = now;
        }
        self.asked.push_back(std::mem::take(&mut self.since));
        true
    }

    /// The pod gives a sign. One that was not asked for means nothing.
    pub(super) fn signed(&mut self) {
        self.asked.pop_front();
        self.sign = Instant::now();
    }
}

/// How long bytes take at the rate.
fn time_of(bytes: usize) -> Duration {
    Duration::from_nanos(bytes as u64 * 1_000_000_000 / BYTES_PER_S as u64)
}

#[cfg(test)]
mod tests {
    //! A pod that reads slowly gets no more than it keeps, and a fast one no more than the rate.

    use super::*;

    /// Sends frames of a length until it may not; returns their bytes and the signs asked for.
    fn send_all(pace: &mut Pace, bytes: usize) -> (usize, usize) {
        let (mut sent, mut signs) = (0, 0);
        while pace.turn() == Turn::Now {
            signs += usize::from(pace.sent(bytes));
            sent += bytes;
        }
        (sent, signs)
    }

    #[tokio::test(start_paused = true)]
    async fn a_pod_that_reads_nothing_is_not_flooded() {
        for bytes in [15, 100, 1436, TO_POD_BYTES_MAX] {
            let mut pace = Pace::new();
            let (sent, signs) = send_all(&mut pace, bytes);
            assert!(sent <= WINDOW_BYTES && signs > 0, "{bytes}: {sent}");
            assert!(matches!(pace.turn(), Turn::AfterSign(_)));
            tokio::time::advance(STUCK_AFTER * 2).await;
            assert!(matches!(pace.turn(), Turn::AfterSign(until) if until < Instant::now()));
            pace.signed();
            assert_eq!(pace.turn(), Turn::Now);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_pod_that_reads_at_once_gets_the_rate() {
        let mut pace = Pace::new();
        let began = Instant::now();
        let mut sent = 0;
        while began.elapsed() < Duration::from_secs(10) {
            match pace.turn() {
                Turn::Now => {
                    if pace.sent(1436) {
                        pace.signed();
                    }
                    sent += 1436;
                }
                Turn::At(at) => tokio::time::sleep_until(at).await,
                Turn::AfterSign(_) => panic!("it reads at once"),
            }
        }
        let wanted = 10 * BYTES_PER_S;
        assert!(
            (wanted..wanted + 2 * WINDOW_BYTES).contains(&sent),
            "{sent}"
        );
        // What has long gone out does not count.
        tokio::time::advance(Duration::from_secs(60)).await;
        assert_eq!(pace.turn(), Turn::Now);
    }

    #[test]
    fn a_sign_that_nobody_asked_for_means_nothing() {
        let mut pace = Pace::new();
        for _ in 0..10 {
            pace.signed();
        }
        assert!(send_all(&mut pace, 100).0 <= WINDOW_BYTES);
    }
}
