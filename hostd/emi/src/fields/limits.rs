//! Limits of radiated emission, as versioned tables with their sources.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::constants::dbuv_per_m;
use super::input::{self, InputError};

/// Distances that differ by less than this are the same: 1 %.
const SAME_DISTANCE: f64 = 0.01;

/// How a receiver weighs what it hears.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Detector {
    /// Quasi-peak of CISPR 16-1-1.
    QuasiPeak,
    /// Average.
    Average,
    /// Peak.
    Peak,
}

/// The limits of one standard and class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Name by which it is asked for, such as `cispr-32-b`.
    pub id: String,
    /// Goes up with every change of a value.
    pub version: u32,
    /// The standard with its edition.
    pub standard: String,
    /// `A` or `B`.
    pub equipment_class: String,
    /// How reliable the values are: `public law`, or `secondary sources` where the standard is sold.
    pub status: String,
    /// Where the values were found.
    pub sources: Vec<String>,
    /// When they were last compared with the sources: year, month, day.
    pub verified: String,
    /// What to know when they are applied.
    pub notes: Vec<String>,
    highest_frequency: Vec<Range>,
    bands: Vec<Band>,
}

/// Up to where is measured if the highest frequency of the equipment is below `below_hz`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Range {
    below_hz: f64,
    to_hz: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Band {
    distance_m: f64,
    detector: Detector,
    bandwidth_hz: f64,
    from_hz: f64,
    to_hz: f64,
    #[serde(flatten)]
    level: Level,
}

/// A level as its standard writes it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Level {
    DbuvPerM(f64),
    UvPerM(f64),
}

/// The limit of one detector at a frequency and distance.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Limit {
    /// Detector.
    pub detector: Detector,
    /// Level in dB above 1 µV/m at the distance that was asked for.
    pub dbuv_per_m: f64,
    /// Bandwidth of the receiver.
    pub bandwidth_hz: f64,
    /// Distance at which the standard gives the limit.
    pub given_at_m: f64,
    /// Whether the limit was moved from that distance by 20 dB per decade. The near field of an emitter falls faster.
    pub extrapolated: bool,
}

static TABLES: LazyLock<Vec<Table>> = LazyLock::new(|| {
    [
        include_str!("../../data/limits/cispr-32-a.json"),
        include_str!("../../data/limits/cispr-32-b.json"),
        include_str!("../../data/limits/fcc-15.109-a.json"),
        include_str!("../../data/limits/fcc-15.109-b.json"),
    ]
    .into_iter()
    .map(|text| serde_json::from_str(text).expect("a table of the crate itself is well formed"))
    .collect()
});

/// All tables.
pub fn tables() -> &'static [Table] {
    &TABLES
}

/// The table called `id`.
pub fn table(id: &str) -> Option<&'static Table> {
    TABLES.iter().find(|table| table.id == id)
}

impl Table {
    /// The limit of each detector at `frequency_hz`, `distance_m` away; none outside of the table's bands. At the edge of
    /// two bands the stricter one counts.
    pub fn limits(&self, frequency_hz: f64, distance_m: f64) -> Result<Vec<Limit>, InputError> {
        let frequency = input::frequency(frequency_hz)?;
        let distance = input::distance(distance_m)?;
        let mut found: Vec<Limit> = Vec::new();
        for band in &self.bands {
            if !(band.from_hz <= frequency && frequency <= band.to_hz) {
                continue;
            }
            let limit = band.at(distance);
            match found
                .iter_mut()
                .find(|known| known.detector == limit.detector)
            {
                None => found.push(limit),
                Some(known) => {
                    let away = |limit: &Limit| (limit.given_at_m / distance).ln().abs();
                    let nearer = away(&limit) - away(known);
                    let stricter = limit.dbuv_per_m < known.dbuv_per_m;
                    if nearer < 0.0 || nearer == 0.0 && stricter {
                        *known = limit;
                    }
                }
            }
        }
        found.sort_by_key(|limit| limit.detector);
        Ok(found)
    }

    /// Up to which frequency is measured if nothing in the equipment is faster than `fastest_hz`. Where the table has no
    /// rule for that, the end of its last band.
    pub fn highest_frequency(&self, fastest_hz: f64) -> Result<f64, InputError> {
        let fastest = input::frequency(fastest_hz)?;
        let last = self.bands.iter().map(|band| band.to_hz).fold(0.0, f64::max);
        if self.highest_frequency.is_empty() {
            return Ok(last);
        }
        let range = self
            .highest_frequency
            .iter()
            .find(|range| fastest < range.below_hz);
        // Above the last range: the fifth harmonic.
        Ok(range.map_or((5.0 * fastest).min(last), |range| range.to_hz))
    }
}

impl Band {
    fn at(&self, distance: f64) -> Limit {
        let given = match self.level {
            Level::DbuvPerM(level) => level,
            Level::UvPerM(microvolts) => dbuv_per_m(1e-6 * microvolts),
        };
        let extrapolated = (distance / self.distance_m - 1.0).abs() > SAME_DISTANCE;
        let moved = 20.0 * (self.distance_m / distance).log10();
        Limit {
            detector: self.detector,
            dbuv_per_m: given + if extrapolated { moved } else { 0.0 },
            bandwidth_hz: self.bandwidth_hz,
            given_at_m: self.distance_m,
            extrapolated,
        }
    }
}
