//! Requests per credential, or per address where none is needed: a token bucket each, checked before a handler is
//! called, so that one runaway caller leaves room for the others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Credentials remembered at once. Beyond that, those whose buckets are full again are dropped
/// first, then the least recently used.
const SUBJECTS_MAX: usize = 16_384;

/// Longest wait reported to a client, in seconds.
const WAIT_S_MAX: f64 = 3600.0;

/// Buckets, keyed by what requests are counted by.
#[derive(Debug)]
pub struct Rate {
    per_s: f64,
    burst: f64,
    buckets: Mutex<HashMap<Arc<str>, Bucket>>,
}

#[derive(Debug, Clone, Copy)]
struct Bucket {
    level: f64,
    at: Instant,
}

impl Rate {
    /// `per_s` sustained requests per second and `burst` at once; a `per_s` of 0 is no limit.
    #[must_use]
    pub fn new(per_s: u32, burst: u32) -> Self {
        Self {
            per_s: per_s.into(),
            burst: burst.max(1).into(),
            buckets: Mutex::default(),
        }
    }

    /// Count a request of `subject` at `now`.
    ///
    /// # Errors
    /// It is one too many; gives the seconds to wait, at least 1.
    pub fn take(&self, subject: &Arc<str>, now: Instant) -> Result<(), u32> {
        if self.per_s == 0.0 {
            return Ok(());
        }
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bucket) = buckets.get_mut(subject) {
            return self.draw(bucket, now);
        }
        if buckets.len() >= SUBJECTS_MAX {
            self.make_room(&mut buckets, now);
        }
        let mut bucket = Bucket {
            level: self.burst,
            at: now,
        };
        let drawn = self.draw(&mut bucket, now);
        buckets.insert(subject.clone(), bucket);
        drawn
    }

    fn draw(&self, bucket: &mut Bucket, now: Instant) -> Result<(), u32> {
        bucket.level = self.level(bucket, now);
        bucket.at = now;
        if bucket.level >= 1.0 {
            bucket.level -= 1.0;
            return Ok(());
        }
        let wait_s = ((1.0 - bucket.level) / self.per_s).ceil();
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped to 1..=3600"
        )]
        Err(wait_s.clamp(1.0, WAIT_S_MAX) as u32)
    }

    fn level(&self, bucket: &Bucket, now: Instant) -> f64 {
        let passed = now.saturating_duration_since(bucket.at).as_secs_f64();
        (bucket.level + passed * self.per_s).min(self.burst)
    }

    fn make_room(&self, buckets: &mut HashMap<Arc<str>, Bucket>, now: Instant) {
        buckets.retain(|_, bucket| self.level(bucket, now) < self.burst);
        if buckets.len() >= SUBJECTS_MAX {
            let oldest = buckets.iter().min_by_key(|(_, bucket)| bucket.at);
            if let Some(subject) = oldest.map(|(subject, _)| subject.clone()) {
                buckets.remove(&subject);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_burst_and_then_the_rate() {
        let (rate, start) = (Rate::new(2, 3), Instant::now());
        let (ann, bob): (Arc<str>, Arc<str>) = ("ann".into(), "bob".into());
        for _ in 0..3 {
            rate.take(&ann, start).unwrap();
        }
        assert_eq!(rate.take(&ann, start), Err(1));
        rate.take(&bob, start).unwrap();
        let half = start + Duration::from_millis(500);
        rate.take(&ann, half).unwrap();
        assert_eq!(rate.take(&ann, half), Err(1));
        // Idle time fills the bucket up to the burst and no further.
        let later = half + Duration::from_secs(3600);
        for _ in 0..3 {
            rate.take(&ann, later).unwrap();
        }
        assert!(rate.take(&ann, later).is_err());
    }

    #[test]
    fn the_wait_is_told_and_zero_is_no_limit() {
        let (slow, now) = (Rate::new(1, 1), Instant::now());
        let ann: Arc<str> = "ann".into();
        slow.take(&ann, now).unwrap();
        assert_eq!(slow.take(&ann, now), Err(1));
        let off = Rate::new(0, 1);
        for _ in 0..1000 {
            off.take(&ann, now).unwrap();
        }
        assert_eq!(off.buckets.lock().unwrap().len(), 0);
    }

    #[test]
    fn memory_is_bounded() {
        let (rate, now) = (Rate::new(1, 5), Instant::now());
        for n in 0..SUBJECTS_MAX + 10 {
            rate.take(&n.to_string().into(), now).unwrap();
        }
        assert_eq!(rate.buckets.lock().unwrap().len(), SUBJECTS_MAX);
        let later = now + Duration::from_secs(5);
        rate.take(&"new".into(), later).unwrap();
        assert_eq!(rate.buckets.lock().unwrap().len(), 1);
    }
}
