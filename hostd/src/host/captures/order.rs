//! A capture's order in the words of the contract, as the captures take it.

use lab::captures::order;

use super::super::bindings::bench::host::captures as wit;

impl From<wit::Order> for order::Order {
    fn from(asked: wit::Order) -> Self {
        Self {
            name: asked.name,
            trigger: asked.trigger.map(|trigger| pods::Trigger {
                channel: trigger.channel,
                edge: match trigger.edge {
                    wit::Edge::Rising => pods::Edge::Rising,
                    wit::Edge::Falling => pods::Edge::Falling,
                    wit::Edge::High => pods::Edge::High,
                    wit::Edge::Low => pods::Edge::Low,
                },
                timeout_ms: trigger.timeout_ms,
            }),
            wanted: asked.plan.into(),
        }
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
