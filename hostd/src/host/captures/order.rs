//! Converts a capture's order from the contract's types to those of the captures.

use super::super::bindings::hostd::host::captures as wit;
use super::super::{Context, internal};
use lab::captures::order;
use lab::replay::Stimulus;
use lab::waveforms::{Sampled, WaveformError, Waveforms};

impl From<wit::Order> for order::Order {
    fn from(asked: wit::Order) -> Self {
        Self {
            name: asked.name,
            trigger: asked.trigger.map(|trigger| order::Trigger {
                wait: trigger.condition.into(),
                timeout_ms: trigger.timeout_ms,
            }),
            pre_samples: asked.pre_samples,
            wanted: asked.plan.into(),
        }
    }
}

impl From<wit::Condition> for order::Wait {
    fn from(condition: wit::Condition) -> Self {
        Self::Device(match condition {
            wit::Condition::I2cAddress(i2c) => {
                return Self::Bus(order::Bus::I2c {
                    lines: i2c.lines,
                    address: i2c.address,
                    is_read: i2c.is_read,
                });
            }
            wit::Condition::UartBytes(uart) => {
                return Self::Bus(order::Bus::Uart {
                    rx: uart.rx,
                    bytes: uart.bytes,
                    options: uart.options,
                });
            }
            wit::Condition::Edge(wit::EdgeOf { channel, edge }) => order::Condition::Edge {
                channel,
                edge: match edge {
                    wit::Edge::Rising => order::Edge::Rising,
                    wit::Edge::Falling => order::Edge::Falling,
                    wit::Edge::High => order::Edge::High,
                    wit::Edge::Low => order::Edge::Low,
                },
            },
            wit::Condition::Pulse(pulse) => order::Condition::Pulse {
                channel: pulse.channel,
                is_high: pulse.is_high,
                length: match pulse.length {
                    wit::PulseLength::ShorterThan(ns) => order::Length::ShorterThan(ns),
                    wit::PulseLength::LongerThan(ns) => order::Length::LongerThan(ns),
                },
            },
            wit::Condition::Pattern(pattern) => order::Condition::Pattern {
                channels: pattern.channels,
                levels: pattern.levels,
            },
            wit::Condition::Level(level) => order::Condition::Level {
                channel: level.channel,
                is_high: level.is_high,
                for_ns: level.for_ns,
            },
        })
    }
}

impl From<wit::Plan> for order::Wanted {
    fn from(plan: wit::Plan) -> Self {
        match plan {
            wit::Plan::Scope(scope) => Self::Scope(order::Scope {
                samples: scope.samples,
                sample_rate_mhz: scope.sample_rate_mhz,
                source: scope.source,
            }),
            wit::Plan::Logic(logic) => Self::Logic(order::Logic {
                samples: logic.samples,
                sample_rate_mhz: logic.sample_rate_mhz,
                channels: logic.channels,
                voltage_mv: logic.voltage_mv,
            }),
            wit::Plan::I2c(i2c) => Self::I2c(order::I2c {
                samples: i2c.samples,
                sample_rate_mhz: i2c.sample_rate_mhz,
                sda: i2c.sda,
                scl: i2c.scl,
                voltage_mv: i2c.voltage_mv,
            }),
            wit::Plan::Dual(dual) => Self::Dual(order::Dual {
                adc_samples: dual.adc_samples,
                adc_rate_mhz: dual.adc_rate_mhz,
                la_samples: dual.la_samples,
                la_rate_mhz: dual.la_rate_mhz,
            }),
            wit::Plan::Measure(measure) => Self::Measure(order::Measure {
                stimulus: measure.stimulus.into(),
                samples: measure.samples,
                sample_rate_mhz: measure.sample_rate_mhz,
                settle_ms: measure.settle_ms,
            }),
        }
    }
}

impl From<wit::Stimulus> for order::Stimulus {
    fn from(stimulus: wit::Stimulus) -> Self {
        match stimulus {
            wit::Stimulus::Generate(signal) => Self::Generate(order::Generated {
                waveform: signal.waveform,
                freq: signal.freq,
                amplitude: signal.amplitude,
                offset: signal.offset,
            }),
            wit::Stimulus::Library(_) | wit::Stimulus::Given(_) => Self::Play,
        }
    }
}

/// The waveform that a measurement names or brings along.
pub(super) async fn stimulus(
    context: &Context,
    waveforms: &Waveforms,
    org: &str,
    order: &wit::Order,
) -> Result<Option<Stimulus>, wit::Error> {
    let wit::Plan::Measure(measure) = &order.plan else {
        return Ok(None);
    };
    let (sampled, field) = match &measure.stimulus {
        wit::Stimulus::Generate(_) => return Ok(None),
        wit::Stimulus::Library(id) => (waveforms.sampled(org, id).await, "waveform_id"),
        wit::Stimulus::Given(given) => {
            let (bits, rate_hz) = (given.bits, given.sample_rate_hz);
            let full = given.full_scale_v;
            let sampled = Sampled::given(&given.samples_b64, bits, rate_hz, full);
            (sampled, "samples_b64")
        }
    };
    let sampled = sampled.map_err(|e| stimulus_error(context, e, None))?;
    let stimulus = Stimulus::of(waveforms, sampled).await;
    stimulus
        .map(Some)
        .map_err(|e| stimulus_error(context, e, Some(field)))
}

/// `whole` is the member to blame if the waveform as a whole is wrong.
fn stimulus_error(context: &Context, error: WaveformError, whole: Option<&str>) -> wit::Error {
    match (error, whole) {
        (WaveformError::NotFound, _) => wit::Error::NoWaveform,
        (WaveformError::Invalid { .. }, Some(field)) => {
            let message = "must be in volts, or plain codes".to_owned();
            wit::Error::Invalid((format!("stimulus.{field}"), message))
        }
        (WaveformError::Invalid { field, message }, None) => {
            wit::Error::Invalid((format!("stimulus.{field}"), message))
        }
        (other, _) => wit::Error::Other(internal(context, "captures", &other)),
    }
}
