//! Captures from the client's side: a request, then typed frames as they arrive.

use serde_json::{Map, Value, json};

mod assembly;
mod check;
mod matcher;
mod trigger;

pub use assembly::{Assembly, AssemblyError};
pub use check::RequestError;
pub use matcher::Matcher;
pub use trigger::{Condition, ConditionError, ConditionKind, Edge, Length, Trigger};

use crate::chunk::raw;
use crate::{LA_SAMPLES_MAX, rates};

/// The field that asks for samples while they are taken.
pub const STREAM: &str = "stream";

/// The field that asks for samples before the trigger.
pub const PRE_SAMPLES: &str = "pre_samples";

/// What to capture. Rates are the requested ones, in MHz; the stream gives the achieved ones.
#[derive(Debug, Clone, PartialEq)]
pub enum CaptureRequest {
    /// Analog samples of one input.
    Scope {
        /// Number of samples.
        samples: u64,
        /// Wanted rate; pods reach 0.4.
        rate_mhz: f64,
        /// Input to route first; `None` leaves the routing as it is.
        source: Option<AdcSource>,
        /// What to wait for; `None` starts at once.
        trigger: Option<Trigger>,
    },
    /// All logic-analyzer channels.
    La {
        /// Number of samples.
        samples: u64,
        /// Wanted rate; pods reach 12, less for long captures.
        rate_mhz: f64,
        /// What to wait for; `None` starts at once.
        trigger: Option<Trigger>,
    },
    /// The same, sent while it is taken, so that memory does not bound it: from pods with
    /// [`CAPTURE_STREAM`](crate::CAPTURE_STREAM).
    Stream {
        /// Number of samples.
        samples: u64,
        /// Wanted rate, as above.
        rate_mhz: f64,
        /// What to wait for; `None` starts at once.
        trigger: Option<Trigger>,
    },
    /// Analog and logic samples that share their first instant.
    Dual {
        /// Number of analog samples; may be 0 when `la_samples` is not.
        adc_samples: u64,
        /// Wanted analog rate.
        adc_rate_mhz: f64,
        /// Number of logic samples; may be 0 when `adc_samples` is not.
        la_samples: u64,
        /// Wanted logic rate.
        la_rate_mhz: f64,
        /// What to wait for; `None` starts at once.
        trigger: Option<Trigger>,
    },
    /// One period of a stimulus on the DAC, captured in step with it on the routed input.
    Measure {
        /// `sine`, `square` or `sawtooth`.
        waveform: String,
        /// Frequency in hertz.
        freq_hz: f64,
        /// Points of the period, each sampled once.
        samples: u64,
        /// Peak in 8-bit DAC levels; the pod's default when `None`.
        amplitude: Option<u8>,
        /// Centre in 8-bit DAC levels; the pod's default when `None`.
        offset: Option<u8>,
    },
}

/// An input of the ADC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdcSource {
    /// The front connector.
    Ext,
    /// The 5 V output, looped back inside the pod.
    Cal1,
    /// The 12 V output, looped back inside the pod.
    Cal2,
    /// The 4-20 mA input.
    CurrentIn,
}

impl AdcSource {
    /// Reads a source's protocol name: `ext`, `cal1`, `cal2`, `current_in`.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "ext" | "adc_ext" | "sma" => Some(Self::Ext),
            "cal1" => Some(Self::Cal1),
            "cal2" => Some(Self::Cal2),
            "current_in" => Some(Self::CurrentIn),
            _ => None,
        }
    }

    /// The analog path that routes it.
    pub fn path(self) -> &'static str {
        match self {
            Self::Ext => "adc_ext",
            Self::Cal1 => "cal1",
            Self::Cal2 => "cal2",
            Self::CurrentIn => "current_in",
        }
    }
}

/// Samples of a capture as they arrive, in order. In a dual capture the ADC frames come first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// Analog samples.
    Adc {
        /// Index of the first of them in the capture.
        start_sample: u64,
        /// Raw 16-bit counts; the pod's fit turns them into volts.
        counts: Vec<u16>,
    },
    /// Logic samples: the words from the previous `upto` (0 at first) to this one.
    La {
        /// Sample index and the word from that sample on, ascending. The first frame of a capture
        /// starts with index 0; later ones contain only changes, so they may be empty.
        edges: Vec<(u64, u16)>,
        /// Samples covered so far.
        upto: u64,
    },
}

impl CaptureRequest {
    /// The request line, as an object.
    pub fn command(&self) -> Map<String, Value> {
        let mut command = match self {
            // A dual capture without LA reports the achieved rate and takes triggers, which the
            // single-shot command does not; so it serves scope captures of every length.
            Self::Scope {
                samples, rate_mhz, ..
            } => json!({"cmd": "capture_dual", "adc_samples": samples, "la_samples": 0,
                "adc_rate_mhz": rate_mhz, "enc": "b64"}),
            Self::La {
                samples, rate_mhz, ..
            } => json!({"cmd": "la_capture", "samples": samples, "sample_rate_mhz": rate_mhz}),
            Self::Stream {
                samples, rate_mhz, ..
            } => json!({"cmd": "la_capture", "samples": samples, "sample_rate_mhz": rate_mhz,
                STREAM: true}),
            Self::Dual {
                adc_samples,
                adc_rate_mhz,
                la_samples,
                la_rate_mhz,
                ..
            } => json!({"cmd": "capture_dual", "adc_samples": adc_samples,
                "la_samples": la_samples, "adc_rate_mhz": adc_rate_mhz,
                "la_rate_mhz": la_rate_mhz, "enc": "b64"}),
            Self::Measure {
                waveform,
                freq_hz,
                samples,
                amplitude,
                offset,
            } => measure_command(waveform, *freq_hz, *samples, *amplitude, *offset),
        };
        let command = command.as_object_mut().expect("built as an object");
        if let Some(trigger) = self.trigger() {
            command.insert("trigger".to_owned(), trigger.condition.to_value());
            command.insert("trigger_timeout_ms".to_owned(), trigger.timeout_ms.into());
            // A pod without the capability is asked in the words that it knows.
            if trigger.pre_samples > 0 {
                command.insert(PRE_SAMPLES.to_owned(), trigger.pre_samples.into());
            }
        }
        std::mem::take(command)
    }

    /// The request line to a pod that can send samples as bytes.
    pub fn raw_command(&self) -> Map<String, Value> {
        let mut command = self.command();
        if !matches!(self, Self::Measure { .. }) {
            command.insert("enc".to_owned(), raw::ENCODING.into());
        }
        command
    }

    /// What it waits for.
    pub fn trigger(&self) -> Option<Trigger> {
        match self {
            Self::Scope { trigger, .. }
            | Self::La { trigger, .. }
            | Self::Stream { trigger, .. }
            | Self::Dual { trigger, .. } => *trigger,
            Self::Measure { .. } => None,
        }
    }

    /// ADC and LA samples it asks for.
    pub fn samples(&self) -> (u64, u64) {
        match self {
            Self::Scope { samples, .. } | Self::Measure { samples, .. } => (*samples, 0),
            Self::La { samples, .. } | Self::Stream { samples, .. } => (0, *samples),
            Self::Dual {
                adc_samples,
                la_samples,
                ..
            } => (*adc_samples, *la_samples),
        }
    }

    /// Whether it is sent while it is taken.
    pub fn is_streamed(&self) -> bool {
        matches!(self, Self::Stream { .. })
    }

    /// How many of its samples it wants before the trigger: of the logic analyzer, or of the ADC alone.
    pub fn pre_samples(&self) -> u64 {
        self.trigger().map_or(0, |trigger| trigger.pre_samples)
    }

    /// Most of them that it can have: samples of both kinds reach the instant of the trigger.
    pub fn pre_samples_max(&self) -> u64 {
        let dividers = (self.adc_divider(), self.la_divider());
        // Memory holds them until the trigger comes, however long the capture is.
        rates::pre_samples_max(self.samples(), dividers).min(LA_SAMPLES_MAX - 1)
    }

    /// The ADC divider the pod will use, which is also the rate when the reply names none.
    pub fn adc_divider(&self) -> u32 {
        let rate_hz = match self {
            Self::Scope { rate_mhz, .. } => rate_mhz * 1e6,
            Self::Dual { adc_rate_mhz, .. } => adc_rate_mhz * 1e6,
            #[allow(clippy::cast_precision_loss, reason = "at most a few thousand samples")]
            Self::Measure {
                freq_hz, samples, ..
            } => freq_hz * *samples as f64,
            Self::La { .. } | Self::Stream { .. } => return rates::adc_divider(None),
        };
        rates::adc_divider(Some(rate_hz))
    }

    /// The ADC rate that the pod will really have, in hertz.
    pub fn adc_rate_hz(&self) -> f64 {
        rates::sample_rate_hz(self.adc_divider())
    }

    /// The LA rate that the pod will really have, in hertz.
    pub fn la_rate_hz(&self) -> f64 {
        rates::sample_rate_hz(self.la_divider())
    }

    /// The LA divider the pod will use.
    pub fn la_divider(&self) -> u32 {
        match self {
            Self::La {
                samples, rate_mhz, ..
            }
            | Self::Stream {
                samples, rate_mhz, ..
            } => rates::la_divider(Some(rate_mhz * 1e6), *samples),
            Self::Dual {
                la_samples,
                la_rate_mhz,
                ..
            } => rates::la_divider(Some(la_rate_mhz * 1e6), *la_samples),
            Self::Scope { .. } | Self::Measure { .. } => rates::la_divider(None, 0),
        }
    }
}

fn measure_command(
    waveform: &str,
    freq_hz: f64,
    samples: u64,
    amplitude: Option<u8>,
    offset: Option<u8>,
) -> Value {
    let mut command = json!({"cmd": "measure", "waveform": waveform, "freq": freq_hz,
        "samples": samples});
    if let Some(amplitude) = amplitude {
        command["amplitude"] = amplitude.into();
    }
    if let Some(offset) = offset {
        command["offset"] = offset.into();
    }
    command
}
