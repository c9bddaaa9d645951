//! Devices that were not given, though no lease says who has them: they are asked for again after a pause.

use std::collections::HashMap;

/// Who had each, and when to ask again.
#[derive(Debug, Default)]
pub(crate) struct Refused(HashMap<String, (String, u64)>);

impl Refused {
    /// `holder` had the device just now; it is asked for again at `at_ms`.
    pub(crate) fn note(&mut self, device: String, holder: String, at_ms: u64) {
        self.0.insert(device, (holder, at_ms));
    }

    /// Forgets those whose pause is over.
    pub(crate) fn settle(&mut self, now_ms: u64) {
        self.0.retain(|_, (_, at_ms)| *at_ms > now_ms);
    }

    /// Who had a device whose pause is not over, and until when that lasts.
    pub(crate) fn holder(&self, device: &str) -> Option<(String, u64)> {
        self.0.get(device).cloned()
    }

    /// When the next pause is over.
    pub(crate) fn next_ms(&self) -> Option<u64> {
        self.0.values().map(|(_, at_ms)| *at_ms).min()
    }
}

#[cfg(test)]
mod tests {
    use base::clock::Clock;

    use super::*;

    #[test]
    fn a_device_is_asked_for_again_after_its_pause_and_not_before() {
        let (clock, hand) = Clock::manual(1_000);
        let mut refused = Refused::default();
        refused.note("a".into(), "ann".into(), clock.now_ms() + 500);
        refused.note("b".into(), "bob".into(), clock.now_ms() + 2_000);
        assert_eq!(refused.next_ms(), Some(1_500));
        hand.advance_ms(499);
        refused.settle(clock.now_ms());
        assert_eq!(refused.holder("a"), Some(("ann".into(), 1_500)));
        hand.advance_ms(1);
        refused.settle(clock.now_ms());
        assert_eq!(
            (refused.holder("a"), refused.next_ms()),
            (None, Some(3_000))
        );
        // Refused once more, it waits once more.
        refused.note("a".into(), "eve".into(), clock.now_ms() + 500);
        assert_eq!(refused.next_ms(), Some(2_000));
        hand.advance_ms(60_000);
        refused.settle(clock.now_ms());
        assert_eq!((refused.holder("b"), refused.next_ms()), (None, None));
    }
}
