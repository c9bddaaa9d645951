//! From what a client ordered to what a pod is asked: bounds first, each named in its refusal.

use pods::capture::Edge;
use pods::{AdcSource, Capabilities, CaptureRequest, Trigger};
use serde_json::{Map, Value, json};

use crate::host::bindings::bench::host::captures as wit;
use crate::replay::Stimulus;

/// LA channels of the largest board.
const CHANNELS: u8 = 14;

/// Longest wait for a trigger.
const TRIGGER_WAIT_MS_MAX: u32 = 600_000;

/// Longest capture name, in characters.
const NAME_CHARS_MAX: usize = 120;

/// ADC samples of one capture beside nothing else, by the pod's memory.
const ADC_SAMPLES_MAX: u64 = 4_192_256;

/// LA samples beside ADC samples, by the pod's memory.
const DUAL_SAMPLES_MAX: u64 = 4_192_256;

/// Highest ADC rate a client may ask for, in MHz: what published clients do. Pods have 0.4 and take the
/// nearest one below what is asked; the capture tells which.
const ADC_RATE_MHZ_MAX: f64 = 1.0;

/// Highest LA rate a client may ask for, in MHz: the clock that pods divide. They take the nearest one
/// below what is asked, at most half of it.
const LA_RATE_MHZ_MAX: f64 = 24.0;

/// Why an order is refused before anything starts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    #[error("{field}: {message}")]
    Invalid { field: String, message: String },
    #[error("the board has no {what}")]
    NotCapable { what: &'static str },
}

/// What a capture will do, checked against its device.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    pub kind: wit::Kind,
    pub request: CaptureRequest,
    /// Commands to send first, in order.
    pub before: Vec<Map<String, Value>>,
    /// Pause after them, in milliseconds.
    pub settle_ms: u32,
    /// LA channels to keep, ascending; empty without LA samples.
    pub la_channels: Vec<u8>,
    /// Whether ADC samples are expected.
    pub has_adc: bool,
    /// Whether the pod's counts wrap at half range.
    pub adc_wraps: bool,
    /// SCL and SDA.
    pub i2c: Option<(u8, u8)>,
    /// What the capture starts; stopped again after it.
    pub stimulus: Option<Stimulus>,
}

impl Plan {
    /// Check `order` for a board with `capabilities`. `samples_max` is the configured bound on top
    /// of the board's own. `stimulus` is what a measurement plays unless the pod generates it.
    ///
    /// # Errors
    /// The first rule that is broken, with its field and bound.
    pub fn check(
        order: &wit::Order,
        capabilities: &Capabilities,
        samples_max: u64,
        stimulus: Option<Stimulus>,
    ) -> Result<Self, PlanError> {
        check_name(order.name.as_deref())?;
        let trigger = order.trigger.as_ref().map(check_trigger).transpose()?;
        if trigger.is_some() && capabilities.capture_trigger == Some(false) {
            return Err(PlanError::NotCapable {
                what: "capture trigger",
            });
        }
        let bounds = Bounds {
            capabilities,
            samples_max,
        };
        match &order.plan {
            wit::Plan::Scope(scope) => bounds.scope(scope, trigger),
            wit::Plan::Logic(logic) => bounds.logic(logic, trigger),
            wit::Plan::I2c(i2c) => bounds.i2c(i2c, trigger),
            wit::Plan::Dual(dual) => bounds.dual(dual, trigger),
            wit::Plan::Measure(measure) => bounds.measure(measure, trigger, stimulus),
        }
    }
}

mod measure;

struct Bounds<'a> {
    capabilities: &'a Capabilities,
    samples_max: u64,
}

impl Bounds<'_> {
    fn scope(&self, scope: &wit::Scope, trigger: Option<Trigger>) -> Result<Plan, PlanError> {
        self.need_adc()?;
        self.count("samples", scope.samples, 1, ADC_SAMPLES_MAX)?;
        rate("sample_rate_mhz", scope.sample_rate_mhz, ADC_RATE_MHZ_MAX)?;
        let source = match &scope.source {
            None => None,
            Some(name) => Some(AdcSource::from_name(name).ok_or_else(|| {
                invalid("source", "must be ext, cal1, cal2 or current_in".into())
            })?),
        };
        Ok(Plan {
            kind: wit::Kind::Scope,
            request: CaptureRequest::Scope {
                samples: scope.samples,
                rate_mhz: scope.sample_rate_mhz,
                source,
                trigger,
            },
            before: Vec::new(),
            settle_ms: 0,
            la_channels: Vec::new(),
            has_adc: true,
            adc_wraps: self.adc_wraps(),
            i2c: None,
            stimulus: None,
        })
    }

    fn logic(&self, logic: &wit::Logic, trigger: Option<Trigger>) -> Result<Plan, PlanError> {
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
            wit::Kind::Logic,
            (logic.samples, logic.sample_rate_mhz, logic.voltage_mv),
            channels,
            trigger,
        )
    }

    fn i2c(&self, i2c: &wit::I2c, trigger: Option<Trigger>) -> Result<Plan, PlanError> {
        self.channel("scl", i2c.scl)?;
        self.channel("sda", i2c.sda)?;
        if i2c.scl == i2c.sda {
            return Err(invalid("sda", "must be another channel than scl".into()));
        }
        let mut channels = vec![i2c.scl, i2c.sda];
        channels.sort_unstable();
        let mut plan = self.la(
            wit::Kind::I2c,
            (i2c.samples, i2c.sample_rate_mhz, i2c.voltage_mv),
            channels,
            trigger,
        )?;
        plan.i2c = Some((i2c.scl, i2c.sda));
        Ok(plan)
    }

    fn la(
        &self,
        kind: wit::Kind,
        (samples, rate_mhz, voltage_mv): (u64, f64, Option<u32>),
        la_channels: Vec<u8>,
        trigger: Option<Trigger>,
    ) -> Result<Plan, PlanError> {
        self.la_channels()?;
        let board_max = self.capabilities.la_max_samples.unwrap_or(u64::MAX);
        self.count("samples", samples, 1, board_max)?;
        rate("sample_rate_mhz", rate_mhz, LA_RATE_MHZ_MAX)?;
        let before = match voltage_mv {
            None => Vec::new(),
            Some(mv @ (1800 | 3300)) => vec![command(&json!({"cmd": "la_voltage", "mv": mv}))],
            Some(_) => return Err(invalid("voltage_mv", "must be 1800 or 3300".into())),
        };
        Ok(Plan {
            kind,
            request: CaptureRequest::La {
                samples,
                rate_mhz,
                trigger,
            },
            before,
            settle_ms: 0,
            la_channels,
            has_adc: false,
            adc_wraps: false,
            i2c: None,
            stimulus: None,
        })
    }

    fn dual(&self, dual: &wit::Dual, trigger: Option<Trigger>) -> Result<Plan, PlanError> {
        if dual.adc_samples == 0 && dual.la_samples == 0 {
            return Err(invalid(
                "adc_samples",
                "adc_samples and la_samples cannot both be 0".into(),
            ));
        }
        self.count("adc_samples", dual.adc_samples, 0, ADC_SAMPLES_MAX)?;
        self.count("la_samples", dual.la_samples, 0, DUAL_SAMPLES_MAX)?;
        let both = dual.adc_samples + dual.la_samples;
        self.count("adc_samples", both, 1, DUAL_SAMPLES_MAX)
            .map_err(|_| {
                let bound = DUAL_SAMPLES_MAX.min(self.samples_max);
                invalid(
                    "adc_samples",
                    format!("adc_samples and la_samples together must be at most {bound}"),
                )
            })?;
        if dual.adc_samples > 0 {
            self.need_adc()?;
            rate("adc_rate_mhz", dual.adc_rate_mhz, ADC_RATE_MHZ_MAX)?;
        }
        let mut la_channels = Vec::new();
        if dual.la_samples > 0 {
            rate("la_rate_mhz", dual.la_rate_mhz, LA_RATE_MHZ_MAX)?;
            la_channels = (1..=self.la_channels()?).collect();
        }
        Ok(Plan {
            kind: wit::Kind::Dual,
            request: CaptureRequest::Dual {
                adc_samples: dual.adc_samples,
                adc_rate_mhz: dual.adc_rate_mhz,
                la_samples: dual.la_samples,
                la_rate_mhz: dual.la_rate_mhz,
                trigger,
            },
            before: Vec::new(),
            settle_ms: 0,
            la_channels,
            has_adc: dual.adc_samples > 0,
            adc_wraps: self.adc_wraps(),
            i2c: None,
            stimulus: None,
        })
    }

    fn need_adc(&self) -> Result<(), PlanError> {
        match self.capabilities.adc {
            Some(false) => Err(PlanError::NotCapable { what: "ADC" }),
            _ => Ok(()),
        }
    }

    fn adc_wraps(&self) -> bool {
        self.capabilities.adc_fit.is_some_and(|fit| fit.unwrap)
    }

    fn la_channels(&self) -> Result<u8, PlanError> {
        match self.capabilities.la_channels {
            Some(0) => Err(PlanError::NotCapable {
                what: "logic analyzer",
            }),
            Some(n) => Ok(n.min(CHANNELS)),
            None => Ok(CHANNELS),
        }
    }

    fn channel(&self, field: &str, channel: u8) -> Result<(), PlanError> {
        let last = self.la_channels()?;
        if (1..=last).contains(&channel) {
            return Ok(());
        }
        Err(invalid(
            field,
            format!("must be a channel from 1 to {last}"),
        ))
    }

    fn count(&self, field: &str, value: u64, least: u64, most: u64) -> Result<(), PlanError> {
        let most = most.min(self.samples_max);
        if (least..=most).contains(&value) {
            return Ok(());
        }
        Err(invalid(field, format!("must be {least} to {most}")))
    }
}

fn check_name(name: Option<&str>) -> Result<(), PlanError> {
    match name {
        Some(name) if name.is_empty() || name.chars().count() > NAME_CHARS_MAX => Err(invalid(
            "name",
            format!("must be 1 to {NAME_CHARS_MAX} characters"),
        )),
        Some(name) if name.chars().any(char::is_control) => {
            Err(invalid("name", "must not hold control characters".into()))
        }
        _ => Ok(()),
    }
}

fn check_trigger(trigger: &wit::Trigger) -> Result<Trigger, PlanError> {
    if !(1..=CHANNELS).contains(&trigger.channel) {
        return Err(invalid(
            "trigger.channel",
            format!("must be a channel from 1 to {CHANNELS}"),
        ));
    }
    if !(1..=TRIGGER_WAIT_MS_MAX).contains(&trigger.timeout_ms) {
        return Err(invalid(
            "trigger.timeout_ms",
            format!("must be 1 to {TRIGGER_WAIT_MS_MAX}"),
        ));
    }
    Ok(Trigger {
        channel: trigger.channel,
        edge: match trigger.edge {
            wit::Edge::Rising => Edge::Rising,
            wit::Edge::Falling => Edge::Falling,
            wit::Edge::High => Edge::High,
            wit::Edge::Low => Edge::Low,
        },
        timeout_ms: trigger.timeout_ms,
    })
}

fn rate(field: &str, mhz: f64, mhz_max: f64) -> Result<(), PlanError> {
    if mhz.is_finite() && 0.0 < mhz && mhz <= mhz_max {
        return Ok(());
    }
    Err(invalid(
        field,
        format!("must be above 0 and at most {mhz_max}"),
    ))
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
