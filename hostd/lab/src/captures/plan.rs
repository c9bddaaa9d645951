//! Turns a client's order into a pod's request: bounds first, each named in its refusal.

use pods::protocol::{DUAL_SAMPLES_MAX, LA_STREAM_SAMPLES_MAX, TWO_INSTRUMENTS, rates};
use pods::{AdcSource, Capabilities, CaptureRequest, Trigger};
use serde_json::{Map, Value, json};

use super::name::check_name;
use crate::captures::order;
use crate::replay::Stimulus;
use bounds::{check_shared, rate};
use store::captures::Kind;

/// ADC samples of an analog-only capture: it is a dual capture without logic samples.
const ADC_SAMPLES_MAX: u64 = DUAL_SAMPLES_MAX;

/// Highest ADC rate a client may request, in MHz: what published clients request. Pods use the nearest
/// one they have, at most [`rates::adc_rate_hz_max`]; a warning gives it.
const ADC_RATE_MHZ_MAX: f64 = 1.0;

/// Highest LA rate a client may request, in MHz: the clock that pods divide. They use the nearest rate
/// below the request, at most half the clock; a warning gives it.
const LA_RATE_MHZ_MAX: f64 = 24.0;

/// The part of a bench of parts that has logic-analyzer channels.
const LOGIC: &str = "logic";

/// The one that has an ADC.
const ANALOG: &str = "analog";

/// Why an order is refused before anything starts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    #[error("{field}: {message}")]
    Invalid { field: String, message: String },
    #[error("{lack}")]
    NotCapable { lack: String },
}

/// The level that a capture needs at the logic analyzer's input bank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Nothing.
    Any,
    /// Any selected level.
    Selected,
    /// This one, in millivolts; the capture selects it first.
    Select(u32),
}

/// What a decoder waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Awaited {
    pub bus: order::Bus,
    pub timeout_ms: u32,
    /// Samples of the capture, and how many of them come before the trigger.
    pub samples: u64,
    pub pre_samples: u64,
}

impl Awaited {
    /// Samples that come while it is waited for.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast saturates"
    )]
    pub fn wait_samples(&self, rate_hz: f64) -> u64 {
        (f64::from(self.timeout_ms) / 1e3 * rate_hz).ceil() as u64
    }
}

/// What a capture will do, checked against its device.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    pub kind: Kind,
    pub request: CaptureRequest,
    /// Commands to send first, in order.
    pub before: Vec<Map<String, Value>>,
    /// Pause after them, in milliseconds.
    pub settle_ms: u32,
    /// LA channels to keep, ascending; empty without LA samples.
    pub la_channels: Vec<u8>,
    /// Whether ADC samples are expected.
    pub(crate) has_adc: bool,
    /// Whether the pod's counts wrap at half range.
    pub(crate) adc_wraps: bool,
    /// SCL and SDA.
    pub i2c: Option<(u8, u8)>,
    /// What a decoder waits for in the samples of the request, which then are more than those of the capture.
    pub awaited: Option<Awaited>,
    /// What the capture starts, and stops afterwards.
    pub stimulus: Option<Stimulus>,
    pub level: Level,
    /// What will differ from the order, in sentences for the client.
    pub warnings: Vec<String>,
}

impl Plan {
    /// Check `order` for a board with `capabilities`. `samples_max` is the configured bound besides
    /// the board's own. `stimulus` is what a measurement plays unless the pod generates it.
    ///
    /// # Errors
    /// The first rule that is broken, with its field and bound.
    pub fn check(
        order: &order::Order,
        capabilities: &Capabilities,
        samples_max: u64,
        stimulus: Option<Stimulus>,
    ) -> Result<Self, PlanError> {
        check_name(order.name.as_deref())?;
        let bounds = Bounds {
            capabilities,
            samples_max,
        };
        let trigger = bounds.trigger(order)?;
        let bus = bounds.bus(order)?;
        let mut plan = match &order.wanted {
            order::Wanted::Scope(scope) => bounds.scope(scope, trigger),
            order::Wanted::Logic(logic) => bounds.logic(logic, trigger),
            order::Wanted::I2c(i2c) => bounds.i2c(i2c, trigger),
            order::Wanted::Dual(dual) => bounds.dual(dual, trigger),
            order::Wanted::Measure(measure) => bounds.measure(measure, trigger, stimulus),
        }?;
        if let Some((bus, timeout_ms)) = bus {
            bounds.hunt(&mut plan, bus, timeout_ms, order.pre_samples)?;
        }
        // What pods would refuse at the capture's turn.
        let refused = |error| bounds::refused(&plan.request, &error);
        plan.request.check().map_err(refused)?;
        // The rates of other instruments are not those of pods; a capture tells what it was.
        if !capabilities.is_of_parts {
            plan.warnings = warnings::of(&order.wanted, &plan);
        }
        Ok(plan)
    }

    fn new(kind: Kind, request: CaptureRequest) -> Self {
        Self {
            kind,
            request,
            before: Vec::new(),
            settle_ms: 0,
            la_channels: Vec::new(),
            has_adc: false,
            adc_wraps: false,
            i2c: None,
            awaited: None,
            stimulus: None,
            level: Level::Any,
            warnings: Vec::new(),
        }
    }
}

mod bounds;
mod measure;
pub mod warnings;

/// The bounds of one board.
struct Bounds<'a> {
    capabilities: &'a Capabilities,
    samples_max: u64,
}

impl Bounds<'_> {
    fn scope(&self, scope: &order::Scope, trigger: Option<Trigger>) -> Result<Plan, PlanError> {
        self.need_adc()?;
        self.count("samples", scope.samples, 1, ADC_SAMPLES_MAX)?;
        rate("sample_rate_mhz", scope.sample_rate_mhz, ADC_RATE_MHZ_MAX)?;
        let source = match &scope.source {
            None => None,
            Some(name) => Some(AdcSource::from_name(name).ok_or_else(|| {
                invalid("source", "must be ext, cal1, cal2 or current_in".into())
            })?),
        };
        let request = CaptureRequest::Scope {
            samples: scope.samples,
            rate_mhz: adc_rate_mhz(scope.sample_rate_mhz),
            source,
            trigger,
        };
        Ok(Plan {
            has_adc: true,
            adc_wraps: self.adc_wraps(),
            ..Plan::new(Kind::Scope, request)
        })
    }

    fn logic(&self, logic: &order::Logic, trigger: Option<Trigger>) -> Result<Plan, PlanError> {
        let mut channels = logic.channels.clone();
        for channel in &channels {
            self.channel("channels", *channel)?;
        }
        channels.sort_unstable();
        channels.dedup();
        if channels.is_empty() {
            channels = (1..=self.la_channels()?).collect();
        }
        self.la(
            Kind::Logic,
            (logic.samples, logic.sample_rate_mhz, logic.voltage_mv),
            channels,
            trigger,
        )
    }

    fn i2c(&self, i2c: &order::I2c, trigger: Option<Trigger>) -> Result<Plan, PlanError> {
        self.channel("scl", i2c.scl)?;
        self.channel("sda", i2c.sda)?;
        if i2c.scl == i2c.sda {
            return Err(invalid("scl", "must be another channel than sda".into()));
        }
        let mut channels = vec![i2c.scl, i2c.sda];
        channels.sort_unstable();
        let mut plan = self.la(
            Kind::I2c,
            (i2c.samples, i2c.sample_rate_mhz, i2c.voltage_mv),
            channels,
            trigger,
        )?;
        plan.i2c = Some((i2c.scl, i2c.sda));
        Ok(plan)
    }

    fn la(
        &self,
        kind: Kind,
        (samples, rate_mhz, voltage_mv): (u64, f64, Option<u32>),
        la_channels: Vec<u8>,
        trigger: Option<Trigger>,
    ) -> Result<Plan, PlanError> {
        self.la_channels()?;
        let is_long = self.is_long(samples);
        match is_long {
            true => bounds::within("samples", samples, 1, LA_STREAM_SAMPLES_MAX)?,
            false => {
                let board_max = self.capabilities.la_max_samples.unwrap_or(u64::MAX);
                self.count("samples", samples, 1, board_max)?;
            }
        }
        rate("sample_rate_mhz", rate_mhz, LA_RATE_MHZ_MAX)?;
        let level = self.level(voltage_mv)?;
        let before = match level {
            Level::Select(mv) => vec![command(&json!({"cmd": "la_voltage", "mv": mv}))],
            Level::Any | Level::Selected => Vec::new(),
        };
        let request = match is_long {
            true => CaptureRequest::Stream {
                samples,
                rate_mhz,
                trigger,
            },
            false => CaptureRequest::La {
                samples,
                rate_mhz,
                trigger,
            },
        };
        Ok(Plan {
            before,
            la_channels,
            level,
            ..Plan::new(kind, request)
        })
    }

    fn dual(&self, dual: &order::Dual, trigger: Option<Trigger>) -> Result<Plan, PlanError> {
        if dual.adc_samples == 0 && dual.la_samples == 0 {
            return Err(invalid(
                "adc_samples",
                "cannot be 0 together with la_samples".into(),
            ));
        }
        self.count("adc_samples", dual.adc_samples, 0, ADC_SAMPLES_MAX)?;
        self.count("la_samples", dual.la_samples, 0, DUAL_SAMPLES_MAX)?;
        let most = DUAL_SAMPLES_MAX.min(self.samples_max);
        if dual.adc_samples + dual.la_samples > most {
            let left = most - dual.adc_samples;
            let rule = format!("must be at most {left} beside these adc_samples: together {most}");
            return Err(invalid("la_samples", rule));
        }
        let (has_adc, has_la) = (dual.adc_samples > 0, dual.la_samples > 0);
        if has_adc {
            self.need_adc()?;
            rate("adc_rate_mhz", dual.adc_rate_mhz, ADC_RATE_MHZ_MAX)?;
        }
        let adc_rate_mhz = adc_rate_mhz(dual.adc_rate_mhz);
        let mut la_channels = Vec::new();
        if has_la {
            rate("la_rate_mhz", dual.la_rate_mhz, LA_RATE_MHZ_MAX)?;
            if !self.capabilities.is_of_parts {
                check_shared(dual.la_rate_mhz, has_adc.then_some(adc_rate_mhz))?;
            }
            la_channels = (1..=self.la_channels()?).collect();
        }
        if has_adc && has_la && !self.capabilities.capture_dual {
            let lack = TWO_INSTRUMENTS.to_owned();
            return Err(PlanError::NotCapable { lack });
        }
        let request = CaptureRequest::Dual {
            adc_samples: dual.adc_samples,
            adc_rate_mhz,
            la_samples: dual.la_samples,
            la_rate_mhz: dual.la_rate_mhz,
            trigger,
        };
        Ok(Plan {
            la_channels,
            has_adc,
            adc_wraps: self.adc_wraps(),
            ..Plan::new(Kind::Dual, request)
        })
    }
}

/// The rate to request from a pod's ADC: at most its real maximum, since a pod computes memory use
/// from requested rates.
fn adc_rate_mhz(asked_mhz: f64) -> f64 {
    asked_mhz.min(rates::adc_rate_hz_max() / 1e6)
}

fn command(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().expect("built as an object")
}

fn invalid(field: &str, message: String) -> PlanError {
    PlanError::Invalid {
        field: field.to_owned(),
        message,
    }
}

#[cfg(test)]
mod tests;
