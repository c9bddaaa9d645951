//! When the next attempt is made.

use base::id;

use crate::limits::Limits;

/// A pause is up to this many hundredths shorter or longer, so that those who failed together do not return together.
const JITTER_PERCENT: u64 = 20;

/// Milliseconds until the attempt after the one with this number, which is at least 1. A receiver's own wish counts if it
/// is longer, and within bounds.
pub(crate) fn pause_ms(limits: &Limits, attempts: u32, wish_s: Option<u64>) -> u64 {
    let doublings = attempts.saturating_sub(1).min(32);
    let plain = limits.first_pause_ms.saturating_mul(1 << doublings);
    let plain = plain.min(limits.pause_ms_max);
    let mut random = [0; 4];
    id::fill_random(&mut random);
    let percent =
        100 - JITTER_PERCENT + u64::from(u32::from_le_bytes(random)) % (2 * JITTER_PERCENT + 1);
    let pause = plain.saturating_mul(percent) / 100;
    let wish = wish_s.unwrap_or_default().saturating_mul(1000);
    pause.max(wish).min(limits.pause_ms_max)
}

/// When to try again after the attempt with this number, unless a message of this age is given up then.
pub(crate) fn next_ms(
    limits: &Limits,
    (created_ms, attempts): (u64, u32),
    wish_s: Option<u64>,
    now_ms: u64,
) -> Option<u64> {
    let next_ms = now_ms.saturating_add(pause_ms(limits, attempts, wish_s));
    let age_ms = next_ms.saturating_sub(created_ms);
    (attempts < limits.attempts_max && age_ms <= limits.age_ms_max).then_some(next_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_an_hour_and_never_are_the_same() {
        let limits = Limits::default();
        let mut seen = std::collections::HashSet::new();
        for attempts in 1..=40 {
            let plain = (5_000_u64 << (attempts - 1).min(20)).min(3_600_000);
            for _ in 0..50 {
                let pause = pause_ms(&limits, attempts, None);
                assert!(
                    pause >= plain * 8 / 10 && pause <= plain * 12 / 10,
                    "{pause}"
                );
                assert!(pause <= 3_600_000);
                seen.insert(pause);
            }
        }
        assert!(seen.len() > 100);
    }

    #[test]
    fn a_receiver_may_ask_for_more_time_within_bounds() {
        let limits = Limits::default();
        assert_eq!(pause_ms(&limits, 1, Some(60)), 60_000);
        assert!(pause_ms(&limits, 1, Some(0)) >= 4_000);
        assert_eq!(pause_ms(&limits, 1, Some(u64::MAX)), 3_600_000);
    }

    #[test]
    fn a_message_is_tried_over_a_day_and_then_given_up() {
        let limits = Limits::default();
        let (mut now_ms, mut attempts) = (0, 1);
        while let Some(next_ms) = next_ms(&limits, (0, attempts), None, now_ms) {
            assert!(next_ms > now_ms);
            (now_ms, attempts) = (next_ms, attempts + 1);
        }
        let hours = now_ms / 3_600_000;
        assert!(
            attempts <= 34 && (18..=24).contains(&hours),
            "{attempts} in {hours} h"
        );
    }
}
