//! The waveform generator: one period in at most 2048 codes, at the rate that matches the frequency
//! best.

use std::f64::consts::TAU;
use std::sync::Arc;

use pod_protocol::rates::{self, DAC_CLOCK_HZ, DAC_DIVIDERS};
use serde_json::{Value, json};

use super::args::Args;
use super::board::{Fit, OutputPath};
use super::converters::Converters;
use super::dac::Wave;
use super::outputs::BAD_PATH;
use super::refuse::Refuse;

/// Maximum number of codes in a period.
const POINTS_MAX: u32 = 2048;

/// How far a peak may lie beyond the output's range, as a fraction of its span; it is clamped then.
const OVERSHOOT: f64 = 0.05;

/// A larger relative error of the played frequency is refused; within the valid range it stays far
/// below.
const FREQUENCY_ERROR_MAX: f64 = 0.01;

/// Longest duration of a generator, in milliseconds.
const DURATION_MS_MAX: i64 = 86_400_000;

/// The shape of one period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Sine,
    Square,
    Sawtooth,
}

impl Shape {
    pub(crate) fn from_args(args: &Args<'_>) -> Result<Self, Refuse> {
        match args.text("waveform")?.unwrap_or("sine") {
            "sine" => Ok(Self::Sine),
            "square" => Ok(Self::Square),
            "sawtooth" => Ok(Self::Sawtooth),
            _ => Err(Refuse::Bad {
                field: "waveform",
                want: "sine, square or sawtooth",
            }),
        }
    }

    /// The value −1..1 at a point of the period.
    pub(crate) fn at(self, point: u32, points: u32) -> f64 {
        let phase = f64::from(point) / f64::from(points);
        match self {
            Self::Sine => (TAU * phase).sin(),
            Self::Square if 2 * point < points => 1.0,
            Self::Square => -1.0,
            Self::Sawtooth => 2.0 * phase - 1.0,
        }
    }
}

/// `generate`: in volts of an output, in µA of the current output, or in 8-bit levels.
pub(crate) fn generate(
    converters: &mut Converters,
    args: &Args<'_>,
    now_ns: u64,
) -> Result<Value, Refuse> {
    let shape = Shape::from_args(args)?;
    let freq_hz = args.number("freq")?.unwrap_or(1000.0);
    if freq_hz <= 0.0 {
        return Err(Refuse::Bad {
            field: "freq",
            want: "a frequency above 0",
        });
    }
    let range = Range::from_args(converters, args)?;
    let route = args.flag("route")?.unwrap_or(true);
    let duration_ms: Option<u64> = args.uint("duration_ms", 0..=DURATION_MS_MAX)?;
    let duration_ns = duration_ms.filter(|ms| *ms > 0).map(|ms| ms * 1_000_000);
    let on_capture = args.flag("on_capture")?.unwrap_or(false);
    let (points, divider) = period(freq_hz, args.rate_hz("sample_rate_mhz")?)?;
    let codes = (0..points).map(|point| range.code(shape.at(point, points)));
    let wave = Arc::new(Wave {
        codes: codes.collect(),
        divider,
    });
    if let Some(path) = range.path.filter(|_| route) {
        converters.route(path, now_ns)?;
    }
    if on_capture {
        converters.dac.arm(wave, now_ns, duration_ns);
    } else {
        converters.dac.play(wave, now_ns, duration_ns);
    }
    Ok(json!({"cotrig": on_capture, "bits": 16}))
}

/// Centre and amplitude of a waveform in the unit of a fit, and the path it goes to.
struct Range {
    fit: Fit,
    centre: f64,
    swing: f64,
    path: Option<&'static str>,
}

impl Range {
    fn from_args(converters: &Converters, args: &Args<'_>) -> Result<Self, Refuse> {
        let board = converters.board();
        if args.has("amplitude_v") {
            let path = args
                .text("path")?
                .ok_or(Refuse::Missing { field: "path" })?;
            let output = OutputPath::from_name(path).ok_or(BAD_PATH)?;
            let range = Self {
                fit: converters.output_fit(output),
                centre: args.number("offset_v")?.unwrap_or(0.0),
                swing: args.number("amplitude_v")?.unwrap_or(0.0),
                path: Some(output.name()),
            };
            return range.within_output();
        }
        if args.has("amplitude_ua") {
            let span = board.current_range();
            let range = Self {
                // The fit is per 8-bit level, so its slope covers 256 codes.
                fit: Fit {
                    a: span.min_ua / 1e3,
                    b: (span.max_ua - span.min_ua) / 1e3 * 256.0 / 65_535.0,
                },
                centre: args.number("offset_ua")?.unwrap_or(0.0) / 1e3,
                swing: args.number("amplitude_ua")?.unwrap_or(0.0) / 1e3,
                path: Some("current_out"),
            };
            return range.within_output();
        }
        Self::levels(args)
    }

    /// The 8-bit form: values are clamped, and nothing is routed.
    pub(crate) fn levels(args: &Args<'_>) -> Result<Self, Refuse> {
        let level = |field, or: u8| {
            let asked = args.int(field, i64::MIN..=i64::MAX)?;
            let clamped = asked.map(|level| level.clamp(0, 255));
            Ok(clamped.map_or(or, |level| u8::try_from(level).expect("clamped to 8 bits")))
        };
        let (swing, centre) = (level("amplitude", 127)?, level("offset", 128)?);
        if swing == 0 {
            return Err(Refuse::Bad {
                field: "amplitude",
                want: "1 to 255",
            });
        }
        Ok(Self {
            fit: Fit { a: 0.0, b: 1.0 },
            centre: f64::from(centre),
            swing: f64::from(swing),
            path: None,
        })
    }

    /// Refuses peaks far beyond the output's range; closer ones are clamped.
    fn within_output(self) -> Result<Self, Refuse> {
        let (low, high) = (self.fit.code_volts(0), self.fit.code_volts(u16::MAX));
        let slack = (high - low) * OVERSHOOT;
        let swing = self.swing.abs();
        let peaks = [self.centre - swing, self.centre + swing];
        let beyond = peaks
            .into_iter()
            .find(|peak| *peak < low - slack || *peak > high + slack);
        match beyond {
            None => Ok(self),
            Some(peak) => Err(Refuse::BeyondOutput {
                reached_mv: milli(peak),
                min_mv: milli(low),
                max_mv: milli(high),
            }),
        }
    }

    fn code(&self, value: f64) -> u16 {
        self.fit.code(self.centre + self.swing * value)
    }
}

/// Codes of one period of a request in 8-bit levels, for `measure`.
pub(crate) fn level_codes(args: &Args<'_>, points: u32) -> Result<Vec<u16>, Refuse> {
    let shape = Shape::from_args(args)?;
    let range = Range::levels(args)?;
    let codes = (0..points).map(|point| range.code(shape.at(point, points)));
    Ok(codes.collect())
}

/// Number of points per period, and DAC divider, for a frequency. If a rate is given, the points
/// follow from it; otherwise it picks the pair that matches the frequency best, and of equal ones
/// the most points.
fn period(freq_hz: f64, rate_hz: Option<f64>) -> Result<(u32, u32), Refuse> {
    let ticks = clock() / freq_hz;
    let refused = |at_rate: Option<f64>| Refuse::Frequency {
        freq_mhz: unsigned(freq_hz * 1e3),
        at_rate: at_rate.map(unsigned),
    };
    if let Some(rate_hz) = rate_hz {
        let divider = rates::dac_divider(rate_hz);
        let points = unsigned((ticks / f64::from(divider)).round());
        let points = u32::try_from(points)
            .ok()
            .filter(|n| (2..=POINTS_MAX).contains(n));
        return points
            .map(|points| (points, divider))
            .ok_or_else(|| refused(Some(rate_hz)));
    }
    let fastest = f64::from(*DAC_DIVIDERS.start());
    let most = unsigned((ticks / fastest).floor()).min(u64::from(POINTS_MAX));
    let most = u32::try_from(most).expect("at most 2048");
    let mut best: Option<(f64, u32, u32)> = None;
    for points in (most / 2).max(2)..=most {
        let divider = rates::dac_divider(clock() / (ticks / f64::from(points)));
        let error = (f64::from(divider) * f64::from(points) / ticks - 1.0).abs();
        if best.is_none_or(|(least, _, _)| error <= least) {
            best = Some((error, points, divider));
        }
    }
    // If the frequency is far too low, no rate can remove the error.
    best.filter(|(error, _, _)| *error < FREQUENCY_ERROR_MAX)
        .map(|(_, points, divider)| (points, divider))
        .ok_or_else(|| refused(None))
}

#[allow(clippy::cast_precision_loss, reason = "48 MHz is exact")]
fn clock() -> f64 {
    DAC_CLOCK_HZ as f64
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "float to integer casts saturate, which is the bound wanted here"
)]
fn unsigned(value: f64) -> u64 {
    value as u64
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "volts in mV are far below 2^53 or saturate"
)]
fn milli(volts: f64) -> i64 {
    (volts * 1e3).round() as i64
}

#[cfg(test)]
mod tests;
