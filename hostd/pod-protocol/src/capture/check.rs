//! Checks a capture request before anything is sent.

use super::{CaptureRequest, Condition, Length, PRE_SAMPLES, Trigger};
use crate::{
    CAPTURE_SECONDS_MAX, DUAL_SAMPLES_MAX, LA_CHANNELS, LA_MASK, LA_SAMPLES_MAX,
    LA_STREAM_SAMPLES_MAX, MEASURE_SAMPLES_MAX, TRIGGER_NS_MAX, TRIGGER_TIMEOUT_MS_MAX, rates,
};

/// Why a capture cannot be requested. Each variant names its field as `CaptureRequest` does.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// No samples at all, or too many.
    #[error("`{field}` must be {min} to {max}, not {found}")]
    Samples {
        /// The field.
        field: &'static str,
        /// What it was.
        found: u64,
        /// The least it may be.
        min: u64,
        /// The most it may be.
        max: u64,
    },
    /// A rate or frequency that is not above zero.
    #[error("`{field}` must be a number above 0")]
    Rate {
        /// The field.
        field: &'static str,
    },
    /// The capture would last too long.
    #[error("the capture would take {seconds} s, it must take less than {limit} s")]
    TooLong {
        /// What it would take.
        seconds: u64,
        /// What is too long.
        limit: u64,
    },
    /// The trigger's channel does not exist.
    #[error("`trigger.channel` must be 1 to {LA_CHANNELS}, not {channel}")]
    Channel {
        /// The channel.
        channel: u8,
    },
    /// A pattern without channels, or with some that do not exist.
    #[error(
        "the pattern of the trigger must have levels of one or more of channels 1 to {LA_CHANNELS}"
    )]
    Pattern,
    /// A time of the trigger's condition is zero or too long.
    #[error("the time of the trigger's condition must be 1 to {TRIGGER_NS_MAX} ns, not {found}")]
    TriggerTime {
        /// What it was, in nanoseconds.
        found: u64,
    },
    /// The trigger's timeout is zero or too long.
    #[error("`trigger.timeout_ms` must be 1 to {TRIGGER_TIMEOUT_MS_MAX}, not {timeout_ms}")]
    TriggerTimeout {
        /// The timeout.
        timeout_ms: u32,
    },
}

impl CaptureRequest {
    /// Checks the request against what pods accept.
    ///
    /// # Errors
    /// [`RequestError`] naming the first field that is out of range, and its range.
    pub fn check(&self) -> Result<(), RequestError> {
        match self {
            Self::Scope {
                samples, rate_mhz, ..
            } => {
                count("samples", *samples, 1, DUAL_SAMPLES_MAX)?;
                positive("rate_mhz", *rate_mhz)?;
            }
            Self::La {
                samples, rate_mhz, ..
            } => {
                count("samples", *samples, 1, LA_SAMPLES_MAX)?;
                positive("rate_mhz", *rate_mhz)?;
            }
            Self::Stream {
                samples, rate_mhz, ..
            } => {
                count("samples", *samples, 1, LA_STREAM_SAMPLES_MAX)?;
                positive("rate_mhz", *rate_mhz)?;
            }
            Self::Dual {
                adc_samples,
                adc_rate_mhz,
                la_samples,
                la_rate_mhz,
                ..
            } => {
                let least = u64::from(*la_samples == 0);
                count("adc_samples", *adc_samples, least, DUAL_SAMPLES_MAX)?;
                let left = DUAL_SAMPLES_MAX - adc_samples;
                count("la_samples", *la_samples, 0, left)?;
                // The rate does not matter if nothing is sampled.
                if *adc_samples > 0 {
                    positive("adc_rate_mhz", *adc_rate_mhz)?;
                }
                if *la_samples > 0 {
                    positive("la_rate_mhz", *la_rate_mhz)?;
                }
            }
            Self::Measure {
                freq_hz, samples, ..
            } => {
                count("samples", *samples, 1, MEASURE_SAMPLES_MAX)?;
                positive("freq_hz", *freq_hz)?;
            }
        }
        self.trigger().map_or(Ok(()), check_trigger)?;
        count(PRE_SAMPLES, self.pre_samples(), 0, self.pre_samples_max())?;
        let seconds = self.duration_ns() / 1_000_000_000;
        if seconds >= CAPTURE_SECONDS_MAX {
            return Err(RequestError::TooLong {
                seconds,
                limit: CAPTURE_SECONDS_MAX,
            });
        }
        Ok(())
    }

    /// How long the capture itself takes at the rates the pod will choose, without any wait for its
    /// trigger.
    pub fn duration_ns(&self) -> u64 {
        let (adc_samples, la_samples) = self.samples();
        let adc_ns = rates::sample_ns(adc_samples, self.adc_divider());
        let la_ns = rates::sample_ns(la_samples, self.la_divider());
        adc_ns.max(la_ns)
    }
}

fn count(field: &'static str, found: u64, min: u64, max: u64) -> Result<(), RequestError> {
    if (min..=max).contains(&found) {
        return Ok(());
    }
    Err(RequestError::Samples {
        field,
        found,
        min,
        max,
    })
}

fn positive(field: &'static str, rate: f64) -> Result<(), RequestError> {
    if rate.is_finite() && rate > 0.0 {
        Ok(())
    } else {
        Err(RequestError::Rate { field })
    }
}

fn check_trigger(trigger: Trigger) -> Result<(), RequestError> {
    let Trigger {
        condition,
        timeout_ms,
        ..
    } = trigger;
    match condition {
        Condition::Edge { channel, .. } => check_channel(channel)?,
        Condition::Pulse {
            channel, length, ..
        } => {
            check_channel(channel)?;
            let (Length::ShorterThan(ns) | Length::LongerThan(ns)) = length;
            check_time(ns)?;
        }
        Condition::Level {
            channel, for_ns, ..
        } => {
            check_channel(channel)?;
            check_time(for_ns)?;
        }
        Condition::Pattern { channels, levels } => {
            if channels == 0 || channels & !LA_MASK != 0 || levels & !channels != 0 {
                return Err(RequestError::Pattern);
            }
        }
    }
    if !(1..=TRIGGER_TIMEOUT_MS_MAX).contains(&timeout_ms) {
        return Err(RequestError::TriggerTimeout { timeout_ms });
    }
    Ok(())
}

fn check_channel(channel: u8) -> Result<(), RequestError> {
    match (1..=LA_CHANNELS).contains(&channel) {
        true => Ok(()),
        false => Err(RequestError::Channel { channel }),
    }
}

fn check_time(found: u64) -> Result<(), RequestError> {
    match (1..=TRIGGER_NS_MAX).contains(&found) {
        true => Ok(()),
        false => Err(RequestError::TriggerTime { found }),
    }
}

#[cfg(test)]
mod tests;
