//! Emission of declared clocks against a table of limits, and what current cables may carry.
//!
//! The result is a list of lines with their margins, never a verdict: loops over planes rarely break limits, cables do.

mod budget;
mod lines;

pub use budget::{Budget, BudgetError, CABLE_NOTE, budget};

use serde::Serialize;

use super::constants::dbuv_per_m;
use super::input::{self, InputError};
use super::limits::{Detector, Limit, Table};
use super::radiation::{CurrentLoop, Site};
use super::spectrum::{Spread, Trapezoid};
use super::wire::Stop;
use super::{Excess, Method};
use lines::Line;

/// Most drivers of one report.
pub const DRIVERS_MAX: usize = 1_000;

/// Most lines of one report, about 50 MB.
pub const LINES_MAX: usize = 200_000;

/// Printed with every report.
pub const NOTES: [&str; 3] = [
    "Only loops of declared clocks are counted. Loops over planes rarely break limits; currents on cables do \
     (Hockanson et al. 1996; Su and Hubing 2011).",
    "Margins compare versions of a board and find large mistakes. They do not predict a measurement: connectors, \
     cables, shields and other signals are not part of them.",
    "Fields are rms of unmodulated lines, which peak, quasi-peak and average detectors read alike.",
];

/// A clock, as its user declares it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Clock {
    /// Frequency.
    pub frequency_hz: f64,
    /// Duration of an edge from 0 to 100 %.
    pub rise_s: f64,
    /// Width at half of the amplitude, as a fraction of the period.
    pub duty: f64,
    /// Swing.
    pub volts: f64,
    /// What limits the current: the load, or the line's impedance while an edge travels.
    pub load_ohm: f64,
    /// Spreading of its frequency.
    pub spread: Option<Spread>,
}

/// What drives some loops with the same current.
#[derive(Debug, Clone, PartialEq)]
pub struct Driver {
    /// Name, such as a net's.
    pub name: String,
    /// Its clock, if that is declared.
    pub clock: Option<Clock>,
    /// Its loops.
    pub loops: Vec<CurrentLoop>,
}

/// Where and by which table fields are judged.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a> {
    /// Table of limits.
    pub table: &'a Table,
    /// Distance of the antenna.
    pub distance_m: f64,
    /// Whether the floor reflects.
    pub site: Site,
    /// Highest frequency that is looked at. `None`: what the table asks for with these clocks.
    pub highest_hz: Option<f64>,
}

/// A line of the spectrum.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// Frequency.
    pub frequency_hz: f64,
    /// Name of the driver.
    pub path: String,
    /// Order of the harmonic.
    pub order: u32,
    /// Field of this driver in dB above 1 µV/m, spreading counted.
    pub dbuv_per_m: f64,
    /// The same with the lines of other drivers that fall into the receiver's bandwidth.
    pub total_dbuv_per_m: f64,
    /// Comparison with each detector's limit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub margins: Vec<Margin>,
    /// Whether every formula holds at this frequency.
    pub valid: bool,
    /// What is outside of a formula's range, empty if `valid`.
    pub outside: Vec<Excess>,
}

/// A limit and how far the field stays below it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Margin {
    /// The limit.
    pub limit: Limit,
    /// Limit minus field; negative where the field is stronger.
    pub margin_db: f64,
}

/// The smallest margin of a detector.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Smallest {
    /// Detector.
    pub detector: Detector,
    /// Where.
    pub frequency_hz: f64,
    /// Limit minus field.
    pub margin_db: f64,
    /// Whether every formula holds there.
    pub valid: bool,
}

/// Emission of the declared clocks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Whether there are clocks, and every driver has one.
    pub complete: bool,
    /// Drivers without a clock.
    pub undeclared: Vec<String>,
    /// Id and version of the table of limits.
    pub limits: String,
    /// How reliable its values are.
    pub limits_status: String,
    /// Distance.
    pub distance_m: f64,
    /// Highest frequency that was looked at; 0 without clocks.
    pub highest_hz: f64,
    /// Lines at which there is a limit, by frequency.
    pub points: Vec<Point>,
    /// The smallest margin of each detector; left out of reports that are not complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smallest_margins: Option<Vec<Smallest>>,
    /// How the numbers were computed.
    pub methods: Vec<&'static Method>,
    /// What to know about them.
    pub notes: Vec<&'static str>,
}

/// Why there is no report.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum EmissionError {
    /// A measure is no measure.
    #[error("{driver}: {cause}")]
    Driver {
        /// Name of the driver.
        driver: String,
        /// What is wrong.
        cause: InputError,
    },
    /// Distance or frequency is no number that can be taken.
    #[error(transparent)]
    Setting(#[from] InputError),
    /// Too many drivers.
    #[error("{count} drivers; at most {DRIVERS_MAX} are taken, declare only the fastest")]
    TooManyDrivers {
        /// How many there are.
        count: usize,
    },
    /// Too many lines.
    #[error("more than {LINES_MAX} harmonics; lower the highest frequency or declare fewer clocks")]
    TooManyLines,
    /// The caller said so.
    #[error("stopped")]
    Stopped,
}

/// Emission of `drivers` under `setting`. Asks `stop` for every line.
pub fn report(
    drivers: &[Driver],
    setting: &Setting,
    stop: Stop<'_>,
) -> Result<Report, EmissionError> {
    if drivers.len() > DRIVERS_MAX {
        return Err(EmissionError::TooManyDrivers {
            count: drivers.len(),
        });
    }
    let fastest = drivers
        .iter()
        .filter_map(|driver| driver.clock.map(|clock| clock.frequency_hz))
        .fold(0.0, f64::max);
    let undeclared: Vec<String> = drivers
        .iter()
        .filter(|driver| driver.clock.is_none())
        .map(|driver| driver.name.clone())
        .collect();
    let complete = undeclared.is_empty() && !drivers.is_empty();
    input::distance(setting.distance_m)?;
    let highest_hz = match setting.highest_hz {
        Some(highest) => input::frequency(highest)?,
        None if fastest > 0.0 => setting.table.highest_frequency(fastest)?,
        None => 0.0,
    };
    let mut lines = lines::of_drivers(drivers, setting, highest_hz, stop)?;
    lines.sort_by(|a, b| {
        let by_frequency = a.frequency_hz.total_cmp(&b.frequency_hz);
        by_frequency.then(a.driver.cmp(&b.driver))
    });
    let totals = lines::totals(&lines, stop)?;
    let points: Vec<Point> = lines
        .into_iter()
        .zip(totals)
        .map(|(line, total)| point(line, total, drivers))
        .collect();
    Ok(Report {
        complete,
        undeclared,
        limits: format!("{} version {}", setting.table.id, setting.table.version),
        limits_status: setting.table.status.clone(),
        distance_m: setting.distance_m,
        highest_hz,
        smallest_margins: complete.then(|| smallest(&points)),
        points,
        methods: lines::methods(setting.site, drivers),
        notes: NOTES.to_vec(),
    })
}

fn point(line: Line, total: f64, drivers: &[Driver]) -> Point {
    let level = dbuv_per_m(total);
    Point {
        frequency_hz: line.frequency_hz,
        path: drivers[line.driver].name.clone(),
        order: line.order,
        dbuv_per_m: dbuv_per_m(line.volts_per_m),
        total_dbuv_per_m: level,
        margins: line
            .limits
            .iter()
            .map(|limit| Margin {
                limit: *limit,
                margin_db: limit.dbuv_per_m - level,
            })
            .collect(),
        valid: line.outside.is_empty(),
        outside: line.outside,
    }
}

fn smallest(points: &[Point]) -> Vec<Smallest> {
    let mut found: Vec<Smallest> = Vec::new();
    for point in points {
        for margin in &point.margins {
            let candidate = Smallest {
                detector: margin.limit.detector,
                frequency_hz: point.frequency_hz,
                margin_db: margin.margin_db,
                valid: point.valid,
            };
            match found
                .iter_mut()
                .find(|known| known.detector == candidate.detector)
            {
                None => found.push(candidate),
                Some(known) if candidate.margin_db < known.margin_db => *known = candidate,
                Some(_) => {}
            }
        }
    }
    found.sort_by_key(|smallest| smallest.detector);
    found
}

impl Clock {
    /// The current that the clock drives, as a trapezoid.
    fn current(&self) -> Result<Trapezoid, InputError> {
        let volts = input::within("swing (V)", self.volts, 0.0, 10_000.0)?;
        let load = input::within("load (Ω)", self.load_ohm, 0.01, 1e9)?;
        Ok(Trapezoid {
            frequency_hz: self.frequency_hz,
            rise_s: self.rise_s,
            duty: self.duty,
            amplitude: volts / load,
        })
    }
}
