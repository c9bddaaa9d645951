//! Looks for a trigger in what an instrument samples, where it cannot wait for one itself.

use pod_protocol::capture::{Matcher, Trigger};

use crate::edges::Edges;
use crate::error::AcquireError;
use crate::wiring::Wiring;

/// A search that goes on from piece to piece.
#[derive(Debug)]
pub(crate) struct Search {
    trigger: Trigger,
    unit: usize,
    /// The changes of the channels that the condition looks at.
    edges: Edges,
    matcher: Matcher,
    /// Samples that were looked through.
    passed: u64,
    /// Samples that may still pass.
    left: u64,
}

impl Search {
    /// A search in samples of this wiring and rate. `None` where a channel is wired to nothing.
    pub(crate) fn new(trigger: Trigger, wiring: &Wiring, rate_hz: u64) -> Option<Self> {
        let Trigger { condition, .. } = trigger;
        wiring.bit(condition.channel())?;
        wiring.bit(condition.last_channel())?;
        let left = u64::from(trigger.timeout_ms).saturating_mul(rate_hz) / 1_000;
        Some(Self {
            trigger,
            unit: wiring.unit(),
            edges: Edges::new(wiring.only(condition.channels())),
            matcher: Matcher::new(condition, rate_hz),
            passed: 0,
            // The first sample may be the one.
            left: left.max(1),
        })
    }

    /// What is looked for.
    pub(crate) fn trigger(&self) -> Trigger {
        self.trigger
    }

    /// Looks through whole samples: the first that meets the trigger.
    ///
    /// # Errors
    /// It did not come in time, by the instrument's own clock.
    pub(crate) fn find(&mut self, raw: &[u8]) -> Result<Option<usize>, AcquireError> {
        let samples = raw.len() / self.unit;
        let left = usize::try_from(self.left).unwrap_or(usize::MAX);
        let within = samples.min(left);
        let changes = self.edges.of(&raw[..within * self.unit], self.passed);
        let end = self.passed + within as u64;
        let met = self.matcher.block(&changes, end);
        if met.is_none() && left <= samples {
            return Err(self.timeout());
        }
        let found = met.map(|at| at.saturating_sub(self.passed));
        self.passed = end;
        self.left -= within as u64;
        Ok(found.map(|at| usize::try_from(at).unwrap_or(usize::MAX).min(samples)))
    }

    /// The trigger did not come.
    pub(crate) fn timeout(&self) -> AcquireError {
        AcquireError::TriggerTimeout {
            trigger: self.trigger,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use pod_protocol::capture::{Condition, Edge, Length};

    const RATE_HZ: u64 = 1_000_000;

    fn search(edge: Edge, unit: usize, timeout_ms: u32) -> Search {
        let wiring = Wiring::new(unit, &[0, 8 * unit - 3]).unwrap();
        let trigger = Trigger {
            condition: Condition::edge(2, edge),
            timeout_ms,
            pre_samples: 0,
        };
        Search::new(trigger, &wiring, RATE_HZ).unwrap()
    }

    /// Samples by the level of the channel; the other bits are noise.
    fn drawn(levels: &str, unit: usize) -> Vec<u8> {
        let samples = levels.bytes().enumerate().map(|(index, level)| {
            let mut sample = vec![0x91_u8.wrapping_mul(u8::try_from(index % 251).unwrap()); unit];
            let last = sample.last_mut().unwrap();
            *last = *last & !0x20 | if level == b'#' { 0x20 } else { 0 };
            sample
        });
        samples.flatten().collect()
    }

    #[test]
    fn each_condition_is_met_where_it_is() {
        for unit in [1, 2, 3] {
            for (edge, levels, expected) in [
                (Edge::Rising, "___##", Some(3)),
                (Edge::Rising, "##__#", Some(4)),
                (Edge::Rising, "#####", None),
                (Edge::Rising, "_____", None),
                (Edge::Falling, "__##_", Some(4)),
                (Edge::Falling, "_____", None),
                (Edge::High, "#____", Some(0)),
                (Edge::High, "__#__", Some(2)),
                (Edge::High, "_____", None),
                (Edge::Low, "____#", Some(0)),
                (Edge::Low, "###_#", Some(3)),
            ] {
                let raw = drawn(levels, unit);
                let found = search(edge, unit, 1_000).find(&raw).unwrap();
                assert_eq!(found, expected, "{edge:?} in {levels}");
                // The same in pieces of one sample.
                let mut pieces = search(edge, unit, 1_000);
                let each = raw.chunks(unit).map(|piece| pieces.find(piece).unwrap());
                let found = each.into_iter().position(|found| found.is_some());
                assert_eq!(found, expected, "{edge:?} in {levels}, in pieces");
            }
        }
    }

    #[test]
    fn far_away_it_is_found_too() {
        for unit in [1, 2] {
            for at in [62, 63, 64, 65, 127, 128, 1_000] {
                let raw = drawn(&("_".repeat(at) + "#"), unit);
                let found = search(Edge::Rising, unit, 1_000).find(&raw).unwrap();
                assert_eq!(found, Some(at));
            }
        }
    }

    #[test]
    fn other_conditions_are_met_in_pieces_too() {
        let pulse = |length| Condition::Pulse {
            channel: 2,
            is_high: true,
            length,
        };
        let level = Condition::Level {
            channel: 2,
            is_high: false,
            for_ns: 2_000,
        };
        for (condition, levels, expected) in [
            (pulse(Length::ShorterThan(3_000)), "##__###__##_", 11),
            (pulse(Length::LongerThan(2_000)), "###_##_####", 9),
            (level, "#_#__#___#", 8),
        ] {
            let trigger = Trigger {
                condition,
                timeout_ms: 1_000,
                pre_samples: 0,
            };
            for unit in [1, 2, 3] {
                let wiring = Wiring::new(unit, &[0, 8 * unit - 3]).unwrap();
                let raw = drawn(levels, unit);
                let mut search = Search::new(trigger, &wiring, RATE_HZ).unwrap();
                assert_eq!(search.find(&raw).unwrap(), Some(expected), "{levels}");
                let mut pieces = Search::new(trigger, &wiring, RATE_HZ).unwrap();
                let each = raw.chunks(unit).map(|piece| pieces.find(piece).unwrap());
                let found = each.into_iter().position(|found| found.is_some());
                assert_eq!(found, Some(expected), "{levels}, in pieces");
            }
        }
        // A pattern needs all of its channels.
        let trigger = Trigger {
            condition: Condition::Pattern {
                channels: 0b101,
                levels: 0,
            },
            timeout_ms: 1,
            pre_samples: 0,
        };
        let wiring = Wiring::new(1, &[0, 1]).unwrap();
        assert!(Search::new(trigger, &wiring, RATE_HZ).is_none());
    }

    #[test]
    fn time_is_the_instruments() {
        // A millisecond has a thousand samples.
        let mut search_ = search(Edge::High, 1, 1);
        assert_eq!(search_.find(&drawn(&"_".repeat(999), 1)).unwrap(), None);
        let late = search_.find(&drawn("_#", 1)).unwrap_err();
        assert_eq!(
            late.to_string(),
            "trigger timeout: no high edge on LA2 within 1 ms"
        );
        let mut search_ = search(Edge::High, 1, 1);
        assert_eq!(search_.find(&drawn(&"_".repeat(999), 1)).unwrap(), None);
        assert_eq!(search_.find(&drawn("#", 1)).unwrap(), Some(0));
        let slow = Wiring::new(1, &[0]).unwrap();
        let trigger = Trigger {
            condition: Condition::edge(1, Edge::High),
            timeout_ms: 1,
            pre_samples: 0,
        };
        // Less than a sample long: the first one decides.
        let mut search_ = Search::new(trigger, &slow, 1).unwrap();
        assert_eq!(search_.find(&[1]).unwrap(), Some(0));
        let mut search_ = Search::new(trigger, &slow, 1).unwrap();
        assert!(search_.find(&[0]).is_err());
    }
}
