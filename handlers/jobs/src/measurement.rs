//! The record of a measurement.

use guest::Time;
use guest::measurements::{Measurement, Named};
use schemars::JsonSchema;
use serde::Serialize;

/// Something that a job measured.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Measurement")]
pub(crate) struct Record<'a> {
    name: &'a str,
    value: f64,
    /// Empty if it has none.
    unit: &'a str,
    /// The lowest value that passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    low: Option<f64>,
    /// The highest value that passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    high: Option<f64>,
    /// Whether the value is within them.
    is_within: bool,
    /// Serial number of the board, if a step named it.
    #[serde(skip_serializing_if = "Option::is_none")]
    serial: Option<&'a str>,
    /// Job id.
    job: &'a str,
    /// Id of the run.
    run: &'a str,
    /// Number of the attempt.
    attempt: u32,
    /// Name of the step.
    step: &'a str,
    /// Branch or tag of the job.
    #[serde(skip_serializing_if = "Option::is_none")]
    r#ref: Option<&'a str>,
    /// Device id; absent for a build.
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<&'a str>,
    /// What the device was called.
    #[serde(skip_serializing_if = "Option::is_none")]
    device_name: Option<&'a str>,
    /// When the attempt ended.
    #[schemars(with = "Time")]
    at: &'a str,
}

impl<'a> From<&'a Measurement> for Record<'a> {
    fn from(measured: &'a Measurement) -> Self {
        Self {
            name: &measured.name,
            value: measured.value,
            unit: &measured.unit,
            low: measured.low,
            high: measured.high,
            is_within: measured.is_within,
            serial: measured.serial.as_deref(),
            job: &measured.job,
            run: &measured.run,
            attempt: measured.attempt,
            step: &measured.step,
            r#ref: measured.ref_.as_deref(),
            device: measured.device.as_deref(),
            device_name: measured.device_name.as_deref(),
            at: &measured.at,
        }
    }
}

/// What all values of one name and unit come to; docs/jobs.md has the formulas.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MeasurementSummary")]
pub(crate) struct Summary<'a> {
    name: &'a str,
    /// Empty if it has none.
    unit: &'a str,
    count: u64,
    min: f64,
    max: f64,
    mean: f64,
    /// Standard deviation of a sample; absent of one value.
    #[serde(skip_serializing_if = "Option::is_none")]
    deviation: Option<f64>,
    /// The limits that it had last.
    #[serde(skip_serializing_if = "Option::is_none")]
    low: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    high: Option<f64>,
    /// (high - low) / (6 * deviation).
    #[serde(skip_serializing_if = "Option::is_none")]
    cp: Option<f64>,
    /// The lesser of (high - mean) and (mean - low), or that of the one limit, / (3 * deviation).
    #[serde(skip_serializing_if = "Option::is_none")]
    cpk: Option<f64>,
    /// Slope by least squares, in the unit per day; absent when all are of one time.
    #[serde(skip_serializing_if = "Option::is_none")]
    trend: Option<f64>,
}

impl<'a> From<&'a Named> for Summary<'a> {
    fn from(named: &'a Named) -> Self {
        Self {
            name: &named.name,
            unit: &named.unit,
            count: named.count,
            min: named.min,
            max: named.max,
            mean: named.mean,
            deviation: named.deviation,
            low: named.low,
            high: named.high,
            cp: named.cp,
            cpk: named.cpk,
            trend: named.trend,
        }
    }
}
