//! The double's captures.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Double;
use crate::Error;
use crate::captures::{Changes, Channel, Decoded, Decoding, LIMIT_MAX};

/// Longest distance of one entry of packed changes.
const DISTANCE_MAX: u64 = (1 << 24) - 1;

/// A finished capture of the double.
#[derive(Debug, Clone, Default)]
pub struct Capture {
    pub id: String,
    /// Id of its device.
    pub device: String,
    pub json: Value,
    pub channels: Vec<Channel>,
    pub roles: Vec<(String, String)>,
    /// Samples at which digital channels change, from 0 on, and the levels from then on: bit `i` is the digital channel `i`.
    pub edges: Vec<(u64, u64)>,
    /// Values of analog channels, by name.
    pub values: BTreeMap<String, Vec<f32>>,
    /// What every decoder finds.
    pub decoded: Vec<Decoded>,
}

impl Capture {
    /// A capture of digital channels.
    #[must_use]
    pub fn digital(id: &str, channels: &[&str], sample_rate_hz: f64, samples: u64) -> Self {
        let channel = |name: &&str| Channel {
            name: (*name).to_owned(),
            digital: true,
            unit: String::new(),
            sample_rate_hz,
            samples,
        };
        Self {
            id: id.to_owned(),
            json: json!({"id": id, "status": "done"}),
            channels: channels.iter().map(channel).collect(),
            ..Self::default()
        }
    }

    pub(crate) fn changes(
        &self,
        channels: &[&str],
        start: u64,
        limit: u32,
    ) -> Result<Changes, Error> {
        let lanes: Vec<usize> = channels
            .iter()
            .map(|name| self.lane(name))
            .collect::<Result<_, _>>()?;
        let of = |levels: u64| {
            let bits = lanes.iter().enumerate();
            bits.fold(0, |all, (bit, lane)| all | (levels >> lane & 1) << bit)
        };
        let entry = |distance: u64, levels: u64| {
            u32::try_from(distance << 8 | levels).expect("24 bits of distance, 8 of levels")
        };
        let before = self.edges.iter().take_while(|(sample, _)| *sample <= start);
        let mut levels = of(before.last().map_or(0, |(_, levels)| *levels));
        let mut changes = Changes {
            packed: vec![entry(0, levels)],
            next: None,
        };
        let mut at = start;
        for (sample, after) in self.edges.iter().filter(|(sample, _)| *sample > start) {
            let after = of(*after);
            if after == levels {
                continue;
            }
            if changes.packed.len() >= limit.clamp(1, LIMIT_MAX) as usize {
                changes.next = Some(*sample);
                break;
            }
            let mut distance = sample - at;
            while distance > DISTANCE_MAX {
                changes.packed.push(entry(DISTANCE_MAX, levels));
                distance -= DISTANCE_MAX;
            }
            changes.packed.push(entry(distance, after));
            (at, levels) = (*sample, after);
        }
        Ok(changes)
    }

    fn lane(&self, name: &str) -> Result<usize, Error> {
        let mut digital = self.channels.iter().filter(|channel| channel.digital);
        let lane = digital.position(|channel| channel.name == name);
        lane.ok_or_else(|| Error::invalid(format!("the double's capture has no channel {name}")))
    }

    pub(crate) fn values(&self, name: &str, start: u64, limit: u32) -> Result<Vec<f32>, Error> {
        let all = self.values.get(name).ok_or_else(|| {
            Error::invalid(format!("the double's capture has no values of {name}"))
        })?;
        let from = usize::try_from(start).map_or(all.len(), |start| start.min(all.len()));
        let limit = limit.clamp(1, LIMIT_MAX) as usize;
        Ok(all[from..].iter().take(limit).copied().collect())
    }

    pub(crate) fn overview(&self, name: &str, points: u32) -> Result<Vec<(f64, f64)>, Error> {
        let all = self.values(name, 0, LIMIT_MAX)?;
        let stretch = all.len().div_ceil(points.max(1) as usize).max(1);
        let extent = |values: &[f32]| {
            let low = values.iter().copied().fold(f32::INFINITY, f32::min);
            let high = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            (f64::from(low), f64::from(high))
        };
        Ok(all.chunks(stretch).map(extent).collect())
    }

    pub(crate) fn decode(&self, order: &Decoding) -> Result<(Vec<Decoded>, bool), Error> {
        for (_, channel) in &order.channels {
            self.lane(channel)?;
        }
        let skip = usize::try_from(order.skip).unwrap_or(usize::MAX);
        let limit = order.limit.clamp(1, LIMIT_MAX) as usize;
        let found = self.decoded.iter().skip(skip).take(limit).cloned();
        let is_more = self.decoded.len() > skip.saturating_add(limit);
        Ok((found.collect(), is_more))
    }
}

impl Double {
    pub(crate) fn capture(&self, id: &str) -> Result<&Capture, Error> {
        let found = self.captures.iter().find(|capture| capture.id == id);
        found.ok_or_else(|| Error::new("not_found", format!("the double has no capture {id}")))
    }

    pub(crate) fn recent(&self, device: Option<&str>, limit: u32) -> Result<Vec<String>, Error> {
        let device = device.map(|which| self.device(which)).transpose()?;
        let is_of = |capture: &&Capture| device.is_none_or(|device| device.id == capture.device);
        let found = self.captures.iter().filter(is_of);
        let limit = limit.clamp(1, 200) as usize;
        Ok(found
            .take(limit)
            .map(|capture| capture.id.clone())
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_come_in_pages_and_in_the_order_of_the_channels() {
        let mut capture = Capture::digital("c", &["a", "b"], 1e6, 20);
        capture.edges = vec![(0, 0b01), (3, 0b11), (7, 0b00)];
        let all = capture.changes(&["b", "a"], 0, 10).unwrap();
        let seen: Vec<_> = all.iter_from(0).collect();
        assert_eq!((seen, all.next), (vec![(0, 2), (3, 3), (7, 0)], None));
        let page = capture.changes(&["a"], 1, 1).unwrap();
        assert_eq!((page.packed, page.next), (vec![1], Some(7)));
        assert!(capture.changes(&["c"], 0, 1).is_err());
    }

    #[test]
    fn values_and_annotations_are_bounded() {
        let mut capture = Capture::digital("c", &["a"], 1e6, 4);
        capture
            .values
            .insert("ADC".to_owned(), vec![1.0, -1.0, 3.0, 2.0]);
        assert_eq!(capture.values("ADC", 1, 2).unwrap(), [-1.0, 3.0]);
        assert_eq!(
            capture.overview("ADC", 2).unwrap(),
            [(-1.0, 1.0), (2.0, 3.0)]
        );
        capture.decoded = vec![Decoded::default(); 3];
        let mut order = Decoding::new("i2c").channel("scl", "a");
        (order.skip, order.limit) = (1, 1);
        let (found, is_more) = capture.decode(&order).unwrap();
        assert_eq!((found.len(), is_more), (1, true));
    }
}
