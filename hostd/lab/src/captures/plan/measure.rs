//! Measurements: a stimulus out of the DAC, and the ADC beside it.

use pods::protocol::MEASURE_SAMPLES_MAX;
use pods::{CaptureRequest, Trigger};
use serde_json::json;

use super::bounds::rate;
use super::{
    ADC_RATE_MHZ_MAX, ADC_SAMPLES_MAX, Bounds, Plan, PlanError, adc_rate_mhz, command, invalid,
};
use crate::captures::order;
use crate::replay::{Stimulus, announces};
use store::captures::Kind;

/// No part of a bench plays waveforms.
const WAVE: &str = "wave";

/// Longest pause between routing a stimulus and sampling it.
const SETTLE_MS_MAX: u32 = 10_000;

impl Bounds<'_> {
    pub(super) fn measure(
        &self,
        measure: &order::Measure,
        trigger: Option<Trigger>,
        stimulus: Option<Stimulus>,
    ) -> Result<Plan, PlanError> {
        self.need_adc()?;
        if self.capabilities.ac_dac == Some(false) {
            return Err(PlanError::NotCapable {
                lack: self.capabilities.lack("AC waveform DAC", WAVE),
            });
        }
        if trigger.is_some() {
            return Err(invalid(
                "trigger",
                "a stimulus starts the capture by itself; leave the trigger out".into(),
            ));
        }
        if measure.settle_ms > SETTLE_MS_MAX {
            return Err(invalid(
                "settle_ms",
                format!("must be at most {SETTLE_MS_MAX}"),
            ));
        }
        rate("sample_rate_mhz", measure.sample_rate_mhz, ADC_RATE_MHZ_MAX)?;
        let request = match &measure.stimulus {
            order::Stimulus::Generate(generated) => self.generate(measure, generated)?,
            order::Stimulus::Play => self.play(measure)?,
        };
        Ok(Plan {
            before: vec![command(&json!({"cmd": "analog_path", "path": "cal1"}))],
            settle_ms: measure.settle_ms,
            has_adc: true,
            adc_wraps: self.adc_wraps(),
            stimulus,
            ..Plan::new(Kind::Measure, request)
        })
    }

    /// ADC samples of a waveform that the capture starts.
    fn play(&self, measure: &order::Measure) -> Result<CaptureRequest, PlanError> {
        if !announces(self.capabilities, "cap.dac_cotrig") {
            return Err(PlanError::NotCapable {
                lack: self
                    .capabilities
                    .lack("common start of DAC and captures", WAVE),
            });
        }
        self.count("samples", measure.samples, 1, ADC_SAMPLES_MAX)?;
        Ok(CaptureRequest::Scope {
            samples: measure.samples,
            rate_mhz: adc_rate_mhz(measure.sample_rate_mhz),
            source: None,
            trigger: None,
        })
    }

    /// One period that the pod generates and samples by itself.
    fn generate(
        &self,
        measure: &order::Measure,
        stimulus: &order::Generated,
    ) -> Result<CaptureRequest, PlanError> {
        self.count("samples", measure.samples, 1, MEASURE_SAMPLES_MAX)?;
        let waveforms = ["sine", "square", "sawtooth"];
        if !waveforms.contains(&stimulus.waveform.as_str()) {
            return Err(invalid(
                "stimulus.generate.waveform",
                format!("must be one of {}", waveforms.join(", ")),
            ));
        }
        let freq_ok = stimulus.freq.is_finite() && 0.0 < stimulus.freq && stimulus.freq <= 1e6;
        if !freq_ok {
            return Err(invalid(
                "stimulus.generate.freq",
                "must be above 0 and at most 1000000 Hz".into(),
            ));
        }
        let amplitude = u8::try_from(stimulus.amplitude).ok().filter(|a| *a > 0);
        let amplitude = amplitude
            .ok_or_else(|| invalid("stimulus.generate.amplitude", "must be 1 to 255".into()))?;
        let offset = u8::try_from(stimulus.offset)
            .map_err(|_| invalid("stimulus.generate.offset", "must be 0 to 255".into()))?;
        Ok(CaptureRequest::Measure {
            waveform: stimulus.waveform.clone(),
            freq_hz: stimulus.freq,
            samples: measure.samples,
            amplitude: Some(amplitude),
            offset: Some(offset),
        })
    }
}
