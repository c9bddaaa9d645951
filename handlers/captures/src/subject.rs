//! What measurements share: the channel and the range that were asked for, times that have something in common.

use guest::measures::{Stats, Subject};
use guest::{Shape, integer, text};
use schemars::JsonSchema;
use serde::Serialize;

/// Longest list of channels in a query, in characters.
pub(crate) const CHANNELS_CHARS_MAX: usize = 1024;

/// Longest name of a channel, in characters.
const CHANNEL_CHARS_MAX: usize = 128;

/// Samples of the longest capture, as a power of two.
pub(crate) const SAMPLES_LOG2: u8 = 36;

/// Samples of the longest capture, which is more than any has events or results.
pub(crate) const SAMPLES_MAX: u64 = 1 << SAMPLES_LOG2;

/// A channel by its name, such as `ADC` or `LA1`.
pub(crate) fn channel() -> impl Shape<Value = String> {
    text(1..=CHANNEL_CHARS_MAX)
}

/// A sample of a capture.
pub(crate) fn sample(first: u64) -> impl Shape<Value = u64> {
    integer(first..=SAMPLES_MAX)
}

/// What was measured.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MeasuredChannel")]
pub(crate) struct SubjectRecord<'a> {
    /// Id of the channel.
    channel: u32,
    name: &'a str,
    /// `V`, `A`, or empty for digital channels.
    unit: &'a str,
    #[schemars(extend("exclusiveMinimum" = 0))]
    sample_rate_hz: f64,
    /// First sample.
    from: u64,
    /// The sample behind the last one.
    to: u64,
}

impl<'a> SubjectRecord<'a> {
    pub(crate) fn of(subject: &'a Subject) -> Self {
        Self {
            channel: subject.channel,
            name: &subject.name,
            unit: &subject.unit,
            sample_rate_hz: subject.sample_rate_hz,
            from: subject.first,
            to: subject.end,
        }
    }
}

/// What times have in common, in seconds.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Times")]
pub(crate) struct StatsRecord {
    /// How many there are.
    count: u64,
    min: f64,
    max: f64,
    mean: f64,
    /// Half of them are no longer; within 0.05 %.
    p50: f64,
    /// 99 of 100 are no longer; within 0.05 %.
    p99: f64,
}

impl StatsRecord {
    pub(crate) fn of(stats: &Option<Stats>) -> Option<Self> {
        stats.as_ref().map(|stats| Self {
            count: stats.count,
            min: stats.min,
            max: stats.max,
            mean: stats.mean,
            p50: stats.p50,
            p99: stats.p99,
        })
    }
}

/// For the documentation.
pub(crate) fn example() -> Subject {
    Subject {
        channel: 0,
        name: "LA1".into(),
        unit: String::new(),
        sample_rate_hz: 1_000_000.0,
        first: 0,
        end: 100_000,
    }
}
