//! The rules of an order; a violation names its field and its bound.

use decode::StreamDecoder;
use pods::protocol::{
    DUAL_BYTES_PER_S_MAX, LA_CHANNELS, LA_SAMPLES_MAX, LA_STREAM_SAMPLES_MAX, SAMPLE_BYTES,
    TRIGGER_NS_MAX, TRIGGER_TIMEOUT_MS_MAX, rates,
};
use pods::{CaptureRequest, Condition, ConditionKind, Length, RequestError, Trigger};

use super::warnings::mhz;
use super::{ANALOG, Awaited, Bounds, LOGIC, Level, Plan, PlanError, invalid};
use crate::captures::order::{self, Order};
use crate::captures::seek;

impl Bounds<'_> {
    pub(super) fn need_adc(&self) -> Result<(), PlanError> {
        match self.capabilities.adc {
            Some(false) => Err(PlanError::NotCapable {
                lack: self.capabilities.lack("ADC", ANALOG),
            }),
            _ => Ok(()),
        }
    }

    pub(super) fn adc_wraps(&self) -> bool {
        self.capabilities.adc_fit.is_some_and(|fit| fit.unwrap)
    }

    pub(super) fn la_channels(&self) -> Result<u8, PlanError> {
        match self.capabilities.la_channels {
            Some(0) => Err(PlanError::NotCapable {
                lack: self.capabilities.lack("logic analyzer", LOGIC),
            }),
            Some(n) => Ok(n.min(LA_CHANNELS)),
            None => Ok(LA_CHANNELS),
        }
    }

    pub(super) fn channel(&self, field: &str, channel: u8) -> Result<(), PlanError> {
        let last = self.la_channels()?;
        if (1..=last).contains(&channel) {
            return Ok(());
        }
        Err(invalid(field, format!("must be one of LA1 to LA{last}")))
    }

    /// The level that the input bank needs. Not every board has every level.
    pub(super) fn level(&self, voltage_mv: Option<u32>) -> Result<Level, PlanError> {
        let levels = self.capabilities.la_levels_mv();
        match voltage_mv {
            None => Ok(Level::Selected),
            Some(mv) if levels.contains(&mv) => Ok(Level::Select(mv)),
            Some(_) => {
                let known = crate::captures::level::levels(self.capabilities);
                let rule = format!("must be {known} on this board");
                Err(invalid("voltage_mv", rule))
            }
        }
    }

    pub(super) fn count(
        &self,
        field: &str,
        value: u64,
        least: u64,
        most: u64,
    ) -> Result<(), PlanError> {
        within(field, value, least, most.min(self.samples_max))
    }

    /// Whether so many logic samples are more than the pod's memory or ours should hold, and the pod sends them while it takes
    /// them.
    pub(super) fn is_long(&self, samples: u64) -> bool {
        let memory = self.capabilities.la_max_samples.unwrap_or(LA_SAMPLES_MAX);
        self.capabilities.capture_stream == Some(true) && memory.min(self.samples_max) < samples
    }

    /// What the order waits for, with its samples before that.
    pub(super) fn trigger(&self, order: &Order) -> Result<Option<Trigger>, PlanError> {
        let pre_samples = order.pre_samples;
        let Some(trigger) = &order.trigger else {
            return match pre_samples {
                0 => Ok(None),
                _ => Err(invalid(
                    PRE_SAMPLES,
                    "needs a trigger: give one, or leave it out".into(),
                )),
            };
        };
        let order::Wait::Device(condition) = trigger.wait else {
            return Ok(None);
        };
        self.condition(condition)?;
        timeout(trigger.timeout_ms)?;
        if pre_samples > 0 && self.capabilities.capture_pre_samples != Some(true) {
            let lack = self.no_trigger("samples before a trigger");
            let lack = format!("{PRE_SAMPLES}: {lack}");
            return Err(PlanError::NotCapable { lack });
        }
        Ok(Some(Trigger {
            condition,
            timeout_ms: trigger.timeout_ms,
            pre_samples,
        }))
    }

    /// What a decoder is to wait for, within its bounds, and for how long.
    pub(super) fn bus(&self, order: &Order) -> Result<Option<(order::Bus, u32)>, PlanError> {
        let Some(trigger) = &order.trigger else {
            return Ok(None);
        };
        let order::Wait::Bus(bus) = &trigger.wait else {
            return Ok(None);
        };
        let mut bus = bus.clone();
        let own = match &order.wanted {
            order::Wanted::Logic(_) => None,
            order::Wanted::I2c(i2c) => Some((i2c.scl, i2c.sda)),
            order::Wanted::Scope(_) | order::Wanted::Dual(_) | order::Wanted::Measure(_) => {
                let rule = "is for captures of the logic analyzer alone";
                return Err(invalid("trigger.protocol", rule.into()));
            }
        };
        if self.capabilities.capture_stream != Some(true) {
            let lack = self
                .no_trigger("protocol trigger, which takes samples that come while they are taken");
            let lack = format!("trigger.protocol: {lack}");
            return Err(PlanError::NotCapable { lack });
        }
        match &mut bus {
            order::Bus::I2c { lines, address, .. } => {
                let Some((scl, sda)) = lines.or(own) else {
                    let rule = "is required, as is trigger.sda";
                    return Err(invalid("trigger.scl", rule.into()));
                };
                self.channel("trigger.scl", scl)?;
                self.channel("trigger.sda", sda)?;
                if scl == sda {
                    let rule = "must be another channel than sda";
                    return Err(invalid("trigger.scl", rule.into()));
                }
                within("trigger.address", (*address).into(), 0, I2C_ADDRESS_MAX)?;
                *lines = Some((scl, sda));
            }
            order::Bus::Uart { rx, bytes, .. } => {
                self.channel("trigger.rx", *rx)?;
                let rule = format!("must have 1 to {BYTES_MAX} bytes");
                if !(1..=BYTES_MAX).contains(&bytes.len()) {
                    return Err(invalid("trigger.bytes", rule));
                }
            }
        }
        timeout(trigger.timeout_ms)?;
        Ok(Some((bus, trigger.timeout_ms)))
    }

    /// Makes the request of a capture one for all samples from the beginning of the wait on.
    pub(super) fn hunt(
        &self,
        plan: &mut Plan,
        bus: order::Bus,
        timeout_ms: u32,
        pre_samples: u64,
    ) -> Result<(), PlanError> {
        let (_, samples) = plan.request.samples();
        let most = PRE_SAMPLES_MAX.min(samples - 1);
        within(PRE_SAMPLES, pre_samples, 0, most)?;
        let (CaptureRequest::La { rate_mhz, .. } | CaptureRequest::Stream { rate_mhz, .. }) =
            plan.request
        else {
            return Ok(());
        };
        let stream = |samples| CaptureRequest::Stream {
            samples,
            rate_mhz,
            trigger: None,
        };
        let rate_hz = stream(LA_STREAM_SAMPLES_MAX).la_rate_hz();
        let spec = seek::spec(&bus).map_err(|error| {
            let field = format!("trigger.{}", error.field());
            invalid(&field, format!("cannot be: failed to {error}"))
        })?;
        if let Err(error) = StreamDecoder::new(spec, rate_hz) {
            let rule = format!("cannot be decoded at this rate: failed to {error}");
            return Err(invalid("trigger.protocol", rule));
        }
        let awaited = Awaited {
            bus,
            timeout_ms,
            samples,
            pre_samples,
        };
        let all = awaited.wait_samples(rate_hz).saturating_add(samples);
        if LA_STREAM_SAMPLES_MAX < all {
            let rule = format!(
                "is too long at this rate: with the capture it takes {all} samples, of {LA_STREAM_SAMPLES_MAX}"
            );
            return Err(invalid("trigger.timeout_ms", rule));
        }
        plan.request = stream(all);
        plan.awaited = Some(awaited);
        Ok(())
    }

    /// Why the device has none of `what`, which goes beyond an edge.
    fn no_trigger(&self, what: &str) -> String {
        let has_logic = self.capabilities.la_channels.is_some_and(|n| n > 0);
        match self.capabilities.is_of_parts && has_logic {
            true => {
                format!("the analyzer of the bench waits for triggers by itself, and has no {what}")
            }
            false => self.capabilities.lack(what, LOGIC),
        }
    }

    /// A condition within its bounds, of a kind that the device has.
    fn condition(&self, condition: Condition) -> Result<(), PlanError> {
        let (field, ns) = match condition {
            Condition::Edge { .. } => ("trigger.channel", None),
            Condition::Pulse { length, .. } => {
                let (field, ns) = match length {
                    Length::ShorterThan(ns) => ("trigger.pulse.shorter_than_ns", ns),
                    Length::LongerThan(ns) => ("trigger.pulse.longer_than_ns", ns),
                };
                ("trigger.pulse.channel", Some((field, ns)))
            }
            Condition::Pattern { .. } => ("trigger.pattern", None),
            Condition::Level { for_ns, .. } => (
                "trigger.level.channel",
                Some(("trigger.level.for_ns", for_ns)),
            ),
        };
        self.channel(field, condition.channel())?;
        self.channel(field, condition.last_channel())?;
        if let Some((field, _)) = ns.filter(|(_, ns)| !(1..=TRIGGER_NS_MAX).contains(ns)) {
            return Err(invalid(field, format!("must be 1 to {TRIGGER_NS_MAX}")));
        }
        let kind = condition.kind();
        let has = self.capabilities.has_trigger(kind);
        // Pods that do not say what they can do have edges.
        let (has_it, lack) = match kind {
            ConditionKind::Edge => (
                has != Some(false),
                self.capabilities.lack("capture trigger", LOGIC),
            ),
            _ => {
                let name = kind.name();
                let lack = self.no_trigger(&format!("{name} trigger"));
                (has == Some(true), format!("trigger.{name}: {lack}"))
            }
        };
        match has_it {
            true => Ok(()),
            false => Err(PlanError::NotCapable { lack }),
        }
    }
}

/// Highest address of an I²C bus.
const I2C_ADDRESS_MAX: u64 = 0x7F;

/// Most bytes that are waited for.
const BYTES_MAX: usize = 64;

/// Most samples before a trigger that a decoder sees: they are kept here, 16 bytes each if all of them differ.
const PRE_SAMPLES_MAX: u64 = 1 << 20;

/// The member of an order that asks for samples before its trigger.
const PRE_SAMPLES: &str = "pre_samples";

fn timeout(ms: u32) -> Result<(), PlanError> {
    within(
        "trigger.timeout_ms",
        ms.into(),
        1,
        TRIGGER_TIMEOUT_MS_MAX.into(),
    )
}

/// A number of samples.
pub(super) fn within(field: &str, value: u64, least: u64, most: u64) -> Result<(), PlanError> {
    match (least..=most).contains(&value) {
        true => Ok(()),
        false => Err(invalid(field, format!("must be {least} to {most}"))),
    }
}

pub(super) fn rate(field: &str, mhz: f64, mhz_max: f64) -> Result<(), PlanError> {
    if mhz.is_finite() && 0.0 < mhz && mhz <= mhz_max {
        return Ok(());
    }
    Err(invalid(
        field,
        format!("must be above 0 and at most {mhz_max}"),
    ))
}

/// The pod memory that both kinds of samples need, as pods compute it: from the requested rates.
/// `adc_rate_mhz` is none without ADC samples.
pub(super) fn check_shared(la_rate_mhz: f64, adc_rate_mhz: Option<f64>) -> Result<(), PlanError> {
    let most_hz = DUAL_BYTES_PER_S_MAX / SAMPLE_BYTES;
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
    let left_hz = most_hz as f64 - (adc_rate_mhz.unwrap_or(0.0) * 1e6).ceil();
    if la_rate_mhz * 1e6 <= left_hz {
        return Ok(());
    }
    let beside = match adc_rate_mhz {
        Some(adc_rate_mhz) => format!(" beside an ADC rate of {} MHz", mhz(adc_rate_mhz * 1e6)),
        None => String::new(),
    };
    let most = DUAL_BYTES_PER_S_MAX / 1_000_000;
    Err(invalid(
        "la_rate_mhz",
        format!(
            "must be at most {}{beside}: the pod's memory takes {most} MB/s at {SAMPLE_BYTES} bytes a sample",
            mhz(left_hz)
        ),
    ))
}

/// A pod's reason to refuse a request, in the words of the order.
pub(super) fn refused(request: &CaptureRequest, error: &RequestError) -> PlanError {
    let field = match (error, request) {
        (RequestError::Samples { field, .. }, _) => field,
        (RequestError::Rate { field }, _) => match *field {
            "rate_mhz" => "sample_rate_mhz",
            "freq_hz" => "stimulus.generate.freq",
            other => other,
        },
        (RequestError::Channel { .. }, _) => "trigger.channel",
        (RequestError::Pattern, _) => "trigger.pattern",
        (RequestError::TriggerTime { .. }, _) => "trigger",
        (RequestError::TriggerTimeout { .. }, _) => "trigger.timeout_ms",
        (RequestError::TooLong { .. }, CaptureRequest::Dual { .. }) => {
            let (adc_samples, la_samples) = request.samples();
            let adc_s = rates::duration_s(adc_samples, request.adc_rate_hz());
            let la_s = rates::duration_s(la_samples, request.la_rate_hz());
            if la_s > adc_s {
                "la_samples"
            } else {
                "adc_samples"
            }
        }
        (RequestError::TooLong { .. }, _) => "samples",
    };
    let rule = match error {
        RequestError::TooLong { seconds, limit } => {
            format!(
                "must be fewer or come faster: they take {seconds} s, captures less than {limit} s"
            )
        }
        other => format!("is refused: {other}"),
    };
    invalid(field, rule)
}
