//! What an antenna sees that is moved around and along its mast, as radiated emission is measured.

use rayon::prelude::*;
use serde::Serialize;
use std::f64::consts::TAU;

use super::{Solution, Stop, Wire, WireError};
use crate::fields::{Complex, Estimate, input};

/// Most places of one scan.
const PLACES_MAX: u32 = 10_000;

/// Most frequencies of one sweep.
const FREQUENCIES_MAX: usize = 1_000;

/// Where an antenna is moved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scan {
    /// Axis of the turntable: x and y.
    pub centre_m: [f64; 2],
    /// Horizontal distance of the antenna from that axis, 0.1 m to 1 km.
    pub distance_m: f64,
    /// Lowest height of the antenna.
    pub lowest_m: f64,
    /// Greatest height.
    pub highest_m: f64,
    /// Number of heights, at least 1.
    pub heights: u32,
    /// Number of directions around, at least 1.
    pub directions: u32,
}

impl Scan {
    /// 1 to 4 m in steps of 0.25 m, every 15°, as CISPR 16-2-3 asks for 30 to 1000 MHz.
    pub fn mast(centre_m: [f64; 2], distance_m: f64) -> Self {
        Self {
            centre_m,
            distance_m,
            lowest_m: 1.0,
            highest_m: 4.0,
            heights: 13,
            directions: 24,
        }
    }

    fn check(&self) -> Result<(), WireError> {
        input::distance(self.distance_m)?;
        for coordinate in self.centre_m {
            input::within("axis of the turntable (m)", coordinate, -1000.0, 1000.0)?;
        }
        input::within("height of the antenna (m)", self.lowest_m, 0.0, 1000.0)?;
        let least = self.lowest_m;
        input::within(
            "greatest height of the antenna (m)",
            self.highest_m,
            least,
            1000.0,
        )?;
        let most = f64::from(PLACES_MAX);
        input::within("heights of the antenna", f64::from(self.heights), 1.0, most)?;
        let places = f64::from(self.heights) * f64::from(self.directions);
        input::within("places of the antenna", places, 1.0, most)?;
        Ok(())
    }
}

/// How the antenna is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Polarisation {
    /// Across the direction to the turntable, level.
    Horizontal,
    /// Upright.
    Vertical,
}

/// The greatest field of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Peak {
    /// Field in V/m per V of the source.
    pub volts_per_m: f64,
    /// Polarisation.
    pub polarisation: Polarisation,
    /// Height of the antenna.
    pub height_m: f64,
    /// Direction of the antenna from the axis, from x to y.
    pub azimuth_rad: f64,
}

/// A cable at one frequency.
#[derive(Debug, Clone, PartialEq)]
pub struct CableEmission {
    /// Frequency.
    pub frequency_hz: f64,
    /// What a common-mode source sees.
    pub impedance_ohm: Complex,
    /// Greatest field, per volt of the source.
    pub peak: Peak,
    /// The same per ampere of the greatest current along the cable, which a current clamp finds.
    pub volts_per_m_per_a: f64,
}

impl CableEmission {
    /// Greatest current along the cable in A with which the field stays at `volts_per_m`.
    pub fn permitted_current(&self, volts_per_m: f64) -> f64 {
        volts_per_m / self.volts_per_m_per_a
    }
}

impl Solution {
    /// The greatest field of `scan`.
    pub fn peak(&self, scan: &Scan) -> Result<Peak, WireError> {
        self.peak_unless(scan, &|| false)
    }

    /// As [`peak`](Self::peak). Asks `stop` at every place.
    pub fn peak_unless(&self, scan: &Scan, stop: Stop<'_>) -> Result<Peak, WireError> {
        scan.check()?;
        let step = if scan.heights > 1 {
            (scan.highest_m - scan.lowest_m) / f64::from(scan.heights - 1)
        } else {
            0.0
        };
        let mut best = Peak {
            volts_per_m: 0.0,
            polarisation: Polarisation::Horizontal,
            height_m: scan.lowest_m,
            azimuth_rad: 0.0,
        };
        for direction in 0..scan.directions {
            let azimuth_rad = TAU * f64::from(direction) / f64::from(scan.directions);
            let (sin, cos) = azimuth_rad.sin_cos();
            for index in 0..scan.heights {
                if stop() {
                    return Err(WireError::Stopped);
                }
                let height_m = scan.lowest_m + step * f64::from(index);
                let [x, y, z] = self.field([
                    scan.centre_m[0] + scan.distance_m * cos,
                    scan.centre_m[1] + scan.distance_m * sin,
                    height_m,
                ]);
                let across = (y * cos - x * sin).abs();
                for (volts_per_m, polarisation) in [
                    (across, Polarisation::Horizontal),
                    (z.abs(), Polarisation::Vertical),
                ] {
                    if volts_per_m > best.volts_per_m {
                        best = Peak {
                            volts_per_m,
                            polarisation,
                            height_m,
                            azimuth_rad,
                        };
                    }
                }
            }
        }
        Ok(best)
    }
}

impl Wire {
    /// Emission at each of `frequencies_hz`, at most 1,000, in their order, whatever the number of threads.
    pub fn sweep(
        &self,
        frequencies_hz: &[f64],
        scan: &Scan,
        stop: Stop,
    ) -> Result<Vec<Estimate<CableEmission>>, WireError> {
        let most = FREQUENCIES_MAX as f64;
        input::within("frequencies", frequencies_hz.len() as f64, 0.0, most)?;
        let at = |frequency: &f64| {
            let solved = self.solve(*frequency, stop)?;
            let solution = &solved.value;
            let peak = solution.peak_unless(scan, stop)?;
            let value = CableEmission {
                frequency_hz: *frequency,
                impedance_ohm: solution.impedance_ohm,
                peak,
                volts_per_m_per_a: peak.volts_per_m / solution.greatest_current(),
            };
            Ok(Estimate {
                value,
                method: solved.method,
                outside: solved.outside,
            })
        };
        frequencies_hz.par_iter().map(at).collect()
    }
}
