//! Looks for a trigger in what an instrument samples, where it cannot wait for one itself.

use pod_protocol::capture::{Edge, Trigger};

use crate::error::AcquireError;
use crate::wiring::Wiring;

/// Samples that are looked at together.
const CHUNK_SAMPLES: usize = 64;

/// A search that goes on from piece to piece.
#[derive(Debug)]
pub(crate) struct Search {
    trigger: Trigger,
    unit: usize,
    /// The byte of a sample, and the bit in it, that the channel is.
    byte: usize,
    bit: u8,
    /// The level that has to come first, so that there is an edge.
    before: Option<bool>,
    level: bool,
    /// Samples that may still pass.
    left: u64,
}

impl Search {
    /// A search in samples of this wiring and rate. `None` where the channel is wired to nothing.
    pub(crate) fn new(trigger: Trigger, wiring: &Wiring, rate_hz: u64) -> Option<Self> {
        let bit = wiring.bit(trigger.channel)?;
        let (before, level) = match trigger.edge {
            Edge::Rising => (Some(false), true),
            Edge::Falling => (Some(true), false),
            Edge::High => (None, true),
            Edge::Low => (None, false),
        };
        let left = u64::from(trigger.timeout_ms).saturating_mul(rate_hz) / 1_000;
        Some(Self {
            trigger,
            unit: wiring.unit(),
            byte: bit / 8,
            bit: 1 << (bit % 8),
            before,
            level,
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
        let within = &raw[..samples.min(left) * self.unit];
        let found = self.position(within);
        if found.is_none() && left <= samples {
            return Err(self.timeout());
        }
        self.left -= samples.min(left) as u64;
        Ok(found)
    }

    /// The trigger did not come.
    pub(crate) fn timeout(&self) -> AcquireError {
        AcquireError::TriggerTimeout {
            channel: self.trigger.channel,
            edge: self.trigger.edge,
            timeout_ms: self.trigger.timeout_ms,
        }
    }

    fn position(&mut self, raw: &[u8]) -> Option<usize> {
        let mut from = 0;
        if let Some(before) = self.before {
            from = self.level_in(raw, before)?;
            self.before = None;
        }
        let found = self.level_in(&raw[from * self.unit..], self.level)?;
        Some(from + found)
    }

    /// The first sample in which the channel has this level.
    fn level_in(&self, raw: &[u8], level: bool) -> Option<usize> {
        let flip = if level { 0 } else { self.bit };
        let has = |sample: &[u8]| (sample[self.byte] ^ flip) & self.bit != 0;
        let mut skipped = 0;
        if self.unit == 1 {
            let (chunks, _) = raw.as_chunks::<CHUNK_SAMPLES>();
            let any = |chunk: &[u8; CHUNK_SAMPLES]| {
                let bits = chunk
                    .iter()
                    .fold(0, |bits, byte| bits | ((byte ^ flip) & self.bit));
                bits != 0
            };
            let still = chunks.iter().position(any).unwrap_or(chunks.len());
            skipped = still * CHUNK_SAMPLES;
        }
        let mut rest = raw[skipped * self.unit..].chunks_exact(self.unit);
        rest.position(has).map(|place| skipped + place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE_HZ: u64 = 1_000_000;

    fn search(edge: Edge, unit: usize, timeout_ms: u32) -> Search {
        let wiring = Wiring::new(unit, &[0, 8 * unit - 3]).unwrap();
        let trigger = Trigger {
            channel: 2,
            edge,
            timeout_ms,
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
            channel: 1,
            edge: Edge::High,
            timeout_ms: 1,
        };
        // Less than a sample long: the first one decides.
        let mut search_ = Search::new(trigger, &slow, 1).unwrap();
        assert_eq!(search_.find(&[1]).unwrap(), Some(0));
        let mut search_ = Search::new(trigger, &slow, 1).unwrap();
        assert!(search_.find(&[0]).is_err());
    }
}
