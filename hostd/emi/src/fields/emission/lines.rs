//! Spectral lines of drivers, and what a receiver reads where several fall into its bandwidth.

use super::{Clock, Driver, EmissionError, LINES_MAX, Setting};
use crate::fields::input::InputError;
use crate::fields::limits::Limit;
use crate::fields::radiation::{self, Site};
use crate::fields::spectrum::{self, Trapezoid};
use crate::fields::wire::Stop;
use crate::fields::{Excess, Method};

/// A harmonic of a driver, as the antenna sees it.
pub(super) struct Line {
    pub(super) frequency_hz: f64,
    pub(super) driver: usize,
    pub(super) order: u32,
    pub(super) volts_per_m: f64,
    pub(super) limits: Vec<Limit>,
    pub(super) outside: Vec<Excess>,
}

impl Line {
    /// The widest bandwidth in which the line is measured.
    fn bandwidth(&self) -> f64 {
        self.limits
            .iter()
            .map(|limit| limit.bandwidth_hz)
            .fold(0.0, f64::max)
    }
}

/// All harmonics up to `highest_hz` at which there is a limit.
pub(super) fn of_drivers(
    drivers: &[Driver],
    setting: &Setting,
    highest_hz: f64,
    stop: Stop<'_>,
) -> Result<Vec<Line>, EmissionError> {
    let mut lines = Vec::new();
    for (index, driver) in drivers.iter().enumerate() {
        let Some(clock) = driver.clock else { continue };
        let refused = |cause: InputError| EmissionError::Driver {
            driver: driver.name.clone(),
            cause,
        };
        let current = clock.current().map_err(refused)?;
        let harmonics = current.harmonics(highest_hz).map_err(refused)?;
        for harmonic in &harmonics.value {
            if stop() {
                return Err(EmissionError::Stopped);
            }
            let limits = setting
                .table
                .limits(harmonic.frequency_hz, setting.distance_m)?;
            if limits.is_empty() || harmonic.rms == 0.0 {
                continue;
            }
            if lines.len() == LINES_MAX {
                return Err(EmissionError::TooManyLines);
            }
            let mut line = Line {
                frequency_hz: harmonic.frequency_hz,
                driver: index,
                order: harmonic.order,
                volts_per_m: 0.0,
                limits,
                outside: harmonics.outside.clone(),
            };
            radiate(&mut line, driver, harmonic.rms, setting).map_err(refused)?;
            spread(&mut line, &clock).map_err(refused)?;
            if line.volts_per_m > 0.0 {
                lines.push(line);
            }
        }
    }
    Ok(lines)
}

/// Adds the fields of the driver's loops.
fn radiate(
    line: &mut Line,
    driver: &Driver,
    rms: f64,
    setting: &Setting,
) -> Result<(), InputError> {
    let mut fields = Vec::with_capacity(driver.loops.len());
    for one in &driver.loops {
        let frequency = line.frequency_hz;
        let field = radiation::loop_field(one, rms, frequency, setting.distance_m, setting.site)?;
        fields.push(field.value);
        for excess in field.outside {
            note(&mut line.outside, excess);
        }
    }
    line.volts_per_m = radiation::of_one_driver(fields);
    Ok(())
}

/// Lowers the line by what spreading the clock takes off.
fn spread(line: &mut Line, clock: &Clock) -> Result<(), InputError> {
    let Some(spread) = clock.spread else {
        return Ok(());
    };
    let reduction = spectrum::spread_reduction(&spread, line.frequency_hz, line.bandwidth())?;
    line.volts_per_m *= 10f64.powf(-reduction.value / 20.0);
    for excess in reduction.outside {
        note(&mut line.outside, excess);
    }
    Ok(())
}

/// Keeps the greatest excess of each quantity.
fn note(all: &mut Vec<Excess>, new: Excess) {
    match all.iter_mut().find(|known| known.quantity == new.quantity) {
        None => all.push(new),
        Some(known) => {
            let is_worse = if new.max.is_some() {
                new.value > known.value
            } else {
                new.value < known.value
            };
            if is_worse {
                *known = new;
            }
        }
    }
}

/// What a receiver tuned to each of `lines`, sorted by frequency, reads: powers of all drivers within its bandwidth.
pub(super) fn totals(lines: &[Line], stop: Stop<'_>) -> Result<Vec<f64>, EmissionError> {
    lines
        .iter()
        .map(|line| {
            if stop() {
                return Err(EmissionError::Stopped);
            }
            let half = 0.5 * line.bandwidth();
            let below = |other: &Line| other.frequency_hz < line.frequency_hz - half;
            let heard = lines[lines.partition_point(below)..]
                .iter()
                .take_while(|other| other.frequency_hz <= line.frequency_hz + half);
            Ok(radiation::of_several_drivers(
                heard.map(|other| other.volts_per_m),
            ))
        })
        .collect()
}

/// The methods that a report of these drivers uses.
pub(super) fn methods(site: Site, drivers: &[Driver]) -> Vec<&'static Method> {
    let mut methods = vec![Trapezoid::method(), radiation::loop_method(site)];
    let is_spread = |driver: &Driver| driver.clock.is_some_and(|clock| clock.spread.is_some());
    if drivers.iter().any(is_spread) {
        methods.push(spectrum::spread_method());
    }
    methods
}
