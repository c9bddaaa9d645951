//! Plays a waveform on a device's DAC: the board's abilities, the codes, and the upload.
//!
//! The codes are loaded first and the output is routed last, so a replay that fails leaves the
//! outputs as they were.

use std::time::Duration;

use pods::protocol::{DEEP_REPLAY_SAMPLES_MAX, REPLAY_SAMPLES_MAX, rates};
use pods::{Capabilities, Pod, PodError};
use serde_json::{Map, Value, json};

use crate::captures::plan::warnings;
use crate::waveforms::signal::{self, Fault, Mapping, Span};
use crate::waveforms::{Sampled, WaveformError, Waveforms};
use store::waveforms::Output;

/// Codes that the small memory of a DAC holds.
#[allow(clippy::cast_possible_truncation, reason = "a small number")]
pub(crate) const SHALLOW_MAX: usize = REPLAY_SAMPLES_MAX as usize;

/// Codes that the deep memory holds, unless the pod reports otherwise.
#[allow(clippy::cast_possible_truncation, reason = "far below 2^32")]
const DEEP_MAX: usize = DEEP_REPLAY_SAMPLES_MAX as usize;

/// Output for stimuli: the one that the ADC sees inside the pod.
pub(crate) const STIMULUS_OUTPUT: Output = Output::V5;

/// Timeout for each command around the upload.
const COMMAND_WAIT: Duration = Duration::from_secs(10);

/// Timeout for all of it, in milliseconds; below `handlers.deadline_ms`.
pub const START_WAIT_MS: u64 = 120_000;

/// How to play a waveform.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    pub output: Output,
    pub mapping: Mapping,
    /// None = the waveform's own rate.
    pub rate_hz: Option<f64>,
    pub window_start: usize,
    /// None = to the end.
    pub window_len: Option<usize>,
    /// None = as many as the device holds.
    pub codes_max: Option<usize>,
    /// Start with sample 0 of the next capture.
    pub on_capture: bool,
    pub fault: Option<Fault>,
}

/// What plays.
#[derive(Debug, Clone, PartialEq)]
pub struct Playing {
    pub codes: usize,
    /// Samples that the codes were made from.
    pub source_samples: usize,
    /// Samples averaged into each code.
    pub averaged: usize,
    /// Rate of the codes, as divided from the DAC's clock.
    pub rate_hz: f64,
    /// Playing speed relative to the waveform's own rate; none if that is not known.
    pub speed: Option<f64>,
    /// From the deep memory.
    pub deep: bool,
    /// It waits for the next capture.
    pub armed: bool,
    /// A sentence for each number that differs from the request.
    pub warnings: Vec<String>,
}

/// A waveform played while a capture samples it.
#[derive(Debug, Clone, PartialEq)]
pub struct Stimulus {
    /// At most `SHALLOW_MAX`, for `STIMULUS_OUTPUT`.
    pub codes: Vec<u16>,
    /// None = the DAC's highest.
    pub rate_hz: Option<f64>,
}

/// Why nothing plays.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    #[error("the board has no {what}")]
    NotCapable { what: &'static str },
    #[error("{field}: {message}")]
    Invalid {
        field: &'static str,
        message: String,
    },
    #[error("the DAC output limits of the device are set, which refuse all waveforms")]
    Limited,
    #[error("the pod did not load the waveform within {START_WAIT_MS} ms")]
    TooSlow,
    #[error("the pod told no range of its current output")]
    NoRange,
    #[error(transparent)]
    Waveform(#[from] WaveformError),
    #[error(transparent)]
    Pod(#[from] PodError),
}

/// Play `sampled` on `pod` again and again, until `dac_stop`.
///
/// # Errors
/// The board cannot, the request is out of bounds, or the pod refuses or fails.
pub async fn start(
    waveforms: &Waveforms,
    pod: &Pod,
    capabilities: &Capabilities,
    sampled: Sampled,
    request: Request,
) -> Result<Playing, ReplayError> {
    let starting = async {
        check(capabilities, &sampled, &request)?;
        need_no_limits(pod, capabilities).await?;
        let span = span(pod, request.output).await?;
        let prepared = prepare(waveforms, capabilities, sampled, &request, span).await?;
        prepared.play(pod, &request).await
    };
    let started = tokio::time::timeout(Duration::from_millis(START_WAIT_MS), starting).await;
    started.map_err(|_| ReplayError::TooSlow)?
}

impl Stimulus {
    /// All of `sampled`, as it is.
    ///
    /// # Errors
    /// It is not in volts, or its samples cannot be read.
    pub async fn of(waveforms: &Waveforms, sampled: Sampled) -> Result<Self, WaveformError> {
        sampled.check_unit(STIMULUS_OUTPUT, Mapping::Faithful)?;
        let averaged = signal::block(sampled.count(), SHALLOW_MAX);
        let rate_hz = averaged_rate_hz(sampled.rate_hz, averaged);
        let computing = waveforms.compute(move || {
            let means = sampled.means(0..sampled.count(), averaged)?;
            let span = sampled.span(Span::of(STIMULUS_OUTPUT));
            Ok(signal::codes(&means, Mapping::Faithful, span))
        });
        let codes = computing.await?;
        Ok(Self { codes, rate_hz })
    }

    /// Load it; the next capture starts it.
    ///
    /// # Errors
    /// The pod refuses or fails.
    pub(crate) async fn arm(&self, pod: &Pod) -> Result<(), PodError> {
        let mut upload = pod.upload(&bytes(&self.codes), false, &mut |_| {}).await?;
        let count = Some(self.codes.len() as u64);
        let rate_mhz = self.rate_hz.map(|hz| hz / 1e6);
        upload.replay(count, rate_mhz, true).await?;
        upload.close().await
    }
}

/// Codes, ready to be loaded.
struct Prepared {
    codes: Vec<u16>,
    source_samples: usize,
    averaged: usize,
    /// The waveform's own rate, after averaging.
    own_rate_hz: Option<f64>,
}

/// Whether a pod announces a feature.
#[must_use]
pub(crate) fn announces(capabilities: &Capabilities, flag: &str) -> bool {
    let parameter = capabilities.parameters.get(flag);
    parameter.is_some_and(|value| value == "true")
}

fn check(
    capabilities: &Capabilities,
    sampled: &Sampled,
    request: &Request,
) -> Result<(), ReplayError> {
    let need = |there: bool, what| {
        if there {
            Ok(())
        } else {
            Err(ReplayError::NotCapable { what })
        }
    };
    need(capabilities.ac_dac != Some(false), "AC waveform DAC")?;
    if request.output == Output::Current {
        need(announces(capabilities, "cap.current_out"), "4-20 mA output")?;
    }
    if request.on_capture {
        let what = "common start of DAC and captures";
        need(announces(capabilities, "cap.dac_cotrig"), what)?;
    }
    sampled.check_unit(request.output, request.mapping)?;
    if request.window_start >= sampled.count() {
        return Err(ReplayError::Invalid {
            field: "window_start",
            message: format!("must be below the waveform's {} samples", sampled.count()),
        });
    }
    Ok(())
}

async fn need_no_limits(pod: &Pod, capabilities: &Capabilities) -> Result<(), ReplayError> {
    if !announces(capabilities, "cap.dac_limits") {
        return Ok(());
    }
    let limits = run(pod, &json!({"cmd": "dac_limits"})).await?;
    match limits.get("enabled").and_then(Value::as_bool) {
        Some(true) => Err(ReplayError::Limited),
        _ => Ok(()),
    }
}

/// The output's range. Only the 4-20 mA output differs from pod to pod.
async fn span(pod: &Pod, output: Output) -> Result<Span, ReplayError> {
    if output != Output::Current {
        return Ok(Span::of(output));
    }
    let range = run(pod, &json!({"cmd": "current_out"})).await?;
    let milliamps = |name: &str| {
        range
            .get(name)
            .and_then(Value::as_f64)
            .map(|ua| ua / 1000.0)
    };
    match (milliamps("min_ua"), milliamps("max_ua")) {
        (Some(low), Some(high)) if low < high => Ok(Span { low, high }),
        _ => Err(ReplayError::NoRange),
    }
}

/// Most codes the device can play as it is set up now. A pod on its control-loop image accepts
/// more, but then plays nothing.
#[must_use]
pub fn codes_max(capabilities: &Capabilities) -> usize {
    if !announces(capabilities, "cap.dac_deep_replay") {
        return SHALLOW_MAX;
    }
    let told = capabilities.parameters.get("cap.dac_replay_max_samples");
    let told = told.and_then(|most| most.parse().ok());
    told.map_or(DEEP_MAX, |most: usize| most.clamp(SHALLOW_MAX, DEEP_MAX))
}

async fn prepare(
    waveforms: &Waveforms,
    capabilities: &Capabilities,
    sampled: Sampled,
    request: &Request,
    span: Span,
) -> Result<Prepared, ReplayError> {
    let most = codes_max(capabilities);
    let most = request.codes_max.map_or(most, |asked| asked.min(most));
    let window = signal::window(sampled.count(), request.window_start, request.window_len);
    let source_samples = window.len();
    let averaged = signal::block(source_samples, most);
    let own_rate_hz = averaged_rate_hz(sampled.rate_hz, averaged);
    if own_rate_hz.is_none() && request.rate_hz.is_none() {
        return Err(ReplayError::Invalid {
            field: "sample_rate_mhz",
            message: "is required: the waveform was kept without a rate".to_owned(),
        });
    }
    let mapping = request.mapping;
    let computing = waveforms.compute(move || {
        let means = sampled.means(window, averaged)?;
        Ok(signal::codes(&means, mapping, sampled.span(span)))
    });
    let mut codes = computing.await?;
    if let Some(fault) = request.fault {
        if fault.start >= codes.len() {
            return Err(ReplayError::Invalid {
                field: "fault.start",
                message: format!("must be below the {} codes that play", codes.len()),
            });
        }
        signal::spoil(&mut codes, fault);
    }
    Ok(Prepared {
        codes,
        source_samples,
        averaged,
        own_rate_hz,
    })
}

impl Prepared {
    async fn play(self, pod: &Pod, request: &Request) -> Result<Playing, ReplayError> {
        let codes = self.codes.len();
        let deep = codes > SHALLOW_MAX;
        let mut upload = pod.upload(&bytes(&self.codes), deep, &mut |_| {}).await?;
        run(pod, &route(request.output)).await?;
        let (field, rate_hz) = match request.rate_hz {
            Some(rate_hz) => ("sample_rate_mhz", Some(rate_hz)),
            None => ("sample_rate_hz", self.own_rate_hz),
        };
        let warning = rate_hz.and_then(|asked_hz| warnings::dac(field, asked_hz, deep));
        let count = Some(codes as u64);
        // However slow, keep it above 0: the pod then uses its slowest rate.
        let rate_mhz = rate_hz.map(|hz| (hz / 1e6).max(f64::MIN_POSITIVE));
        let report = upload.replay(count, rate_mhz, request.on_capture).await?;
        upload.close().await?;
        let rate_hz = rates::replay_rate_hz(rate_hz, deep);
        Ok(Playing {
            codes,
            source_samples: self.source_samples,
            averaged: self.averaged,
            rate_hz,
            speed: self.own_rate_hz.map(|own| rate_hz / own),
            deep,
            armed: report.get("cotrig").and_then(Value::as_bool) == Some(true),
            warnings: warning.into_iter().collect(),
        })
    }
}

fn bytes(codes: &[u16]) -> Vec<u8> {
    codes.iter().flat_map(|code| code.to_le_bytes()).collect()
}

/// Rate of codes that are each the mean of `averaged` samples; none if `rate_hz` is 0, which means
/// unknown.
fn averaged_rate_hz(rate_hz: f64, averaged: usize) -> Option<f64> {
    let averaged = f64::from(u32::try_from(averaged).unwrap_or(u32::MAX));
    (rate_hz > 0.0).then_some(rate_hz / averaged)
}

/// The command that puts the DAC on an output.
fn route(output: Output) -> Value {
    match output {
        // The voltage outputs share the DAC and would follow the current.
        Output::Current => json!({"cmd": "analog_path", "path": output.name()}),
        Output::V3 | Output::V5 | Output::V12 => json!({"cmd": "dac_out", "path": output.name()}),
    }
}

async fn run(pod: &Pod, command: &Value) -> Result<Value, PodError> {
    let command: Map<String, Value> = command.as_object().cloned().expect("built as an object");
    pod.command(command, COMMAND_WAIT).await
}
