//! The actions of steps as they are written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::decoder::Decoder;
use super::measurand::Measurand;
use super::trigger::Trigger;
use crate::limits::{BAUD, LA_CHANNELS, LIST_MAX, SAMPLES_MAX};
use crate::rules::{RuleSource, Time};
use crate::scalars::{Artifact, Decimal, Id, Label, List, Names, RelativePath, Text, Whole};
use crate::template::Templated;
use crate::units::{Duration, Rate};

/// A channel of the logic analyzer, from 1.
pub(crate) type Channel = Whole<1, LA_CHANNELS>;

/// Runs pytest.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pytest {
    /// A file or folder of tests.
    pub(crate) path: RelativePath,
    /// Arguments after it.
    #[serde(default)]
    pub(crate) args: List<Templated<Text>, LIST_MAX>,
}

/// Switches a rail of the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Power {
    /// The pod's own 5 V, or the supply that is plugged into it.
    pub rail: Rail,
    /// On or off.
    pub state: Switch,
}

/// A rail of the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rail {
    /// The pod's own 5 V.
    Internal,
    /// The supply that is plugged into the pod.
    External,
}

/// On or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Switch {
    /// The rail has power.
    On,
    /// It has none.
    Off,
}

/// Pulses the reset line.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reset {
    /// How long the line is held, at most 1 s. Without it 50 ms.
    pub(crate) pulse: Option<Duration>,
}

/// Programs the target.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Flash {
    /// An artifact that every pack of `for_each` has; without `for_each` its run before it, as `fw.debug.f0/fw.elf`.
    pub(crate) artifact: Templated<Artifact>,
    /// Read it back and compare. Without it yes.
    #[serde(default = "yes")]
    pub(crate) verify: bool,
    /// The chip. Without it that of the artifact's pack, if it has one target, or else the one that the device is wired to.
    pub(crate) target: Option<Templated<Id>>,
}

fn yes() -> bool {
    true
}

/// Talks to the target's serial line: sends, then reads until what is expected has come.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Uart {
    /// Bits per second. Without it 115200.
    pub(crate) baud: Option<Templated<Whole<{ BAUD.0 }, { BAUD.1 }>>>,
    /// The parity bit. Without it as the device is set up: none, but for a bench of parts that says otherwise.
    pub(crate) parity: Option<Parity>,
    /// Channels that the line is wired to. Without it those of the device's wiring.
    pub(crate) channels: Option<UartChannels>,
    /// What is sent first.
    pub(crate) send: Option<Templated<Text>>,
    /// Text that must come before the step's timeout; else the step fails.
    pub(crate) expect: Option<Templated<Text>>,
    /// Text after which reading ends. Reading that ends by the timeout instead is no failure.
    pub(crate) until: Option<Templated<Text>>,
}

/// The parity bit of a serial line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Parity {
    /// There is no such bit.
    None,
    /// It makes the number of ones even.
    Even,
    /// It makes that odd.
    Odd,
}

/// Channels of a serial line.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UartChannels {
    /// Where the pod listens: the target's TX.
    pub(crate) rx: Channel,
    /// What the pod drives: the target's RX.
    pub(crate) tx: Channel,
}

/// Records signals. It is kept with the job's evidence.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Capture {
    /// Of the logic analyzer or of the ADC.
    pub(crate) kind: CaptureKind,
    /// Names of the channels that are recorded: with `la`, one or more.
    #[serde(default)]
    pub(crate) channels: Names<Id, Channel>,
    /// Samples per second: at most 24 MHz with `la`, 1 MHz with `adc`. The nearest rate that the device has is taken; pods have 12 MHz at most with `la`.
    pub(crate) rate: Rate,
    /// How many samples.
    pub(crate) samples: Templated<Whole<1, SAMPLES_MAX>>,
    /// What starts it. Without it, it starts at once.
    pub(crate) trigger: Option<Trigger>,
    /// How many of the samples come before the trigger, fewer than there are. Devices that keep none refuse the capture.
    pub(crate) pre_samples: Option<Whole<0, SAMPLES_MAX>>,
}

/// What records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CaptureKind {
    /// The logic analyzer.
    La,
    /// The analog input.
    Adc,
}

/// What must happen on a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Edge {
    /// From low to high.
    Rising,
    /// From high to low.
    Falling,
    /// While high.
    High,
    /// While low.
    Low,
}

/// Judges what an earlier step got: `exit_code` of a `run`, `text` of a `uart` or `run`, traffic on a bus that a capture
/// has, or rules about its signals.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("oneOf" = [{"required": ["exit_code"]}, {"required": ["text"]}, {"required": ["decode"]}, {"required": ["rules"]}]))]
pub(crate) struct Assert {
    /// The `id` of an earlier step. One in the background is waited for.
    pub(crate) on: Id,
    /// The exit code that the step must have; the step itself fails with none then.
    pub(crate) exit_code: Option<Whole<0, 255>>,
    /// Text that must be in its output.
    pub(crate) text: Option<Templated<Text>>,
    /// The decoder for a capture.
    pub(crate) decode: Option<BusDecoder>,
    /// With `decode`: transfers to this 7-bit address.
    pub(crate) address: Option<Templated<Whole<0, 0x7f>>>,
    /// With `decode`: transfers that have these bytes, one after the other.
    #[serde(default)]
    pub(crate) bytes: List<Whole<0, 255>, LIST_MAX>,
    /// With `decode`: transfers whose address is acknowledged, or is not.
    pub(crate) ack: Option<bool>,
    /// With `decode`: how many such transfers there must be at least. Without it one.
    pub(crate) min_count: Option<Whole<1, 1_000_000>>,
    /// What the signals of a capture must show: a list of rules, or the path of a file that has them. Each is a case.
    pub(crate) rules: Option<RuleSource>,
}

/// A decoder whose result can be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BusDecoder {
    /// I²C, on channels named `scl` and `sda`.
    I2c,
}

/// Measures a channel of a capture and records the value. One outside its limits fails the step.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Measure {
    /// The `id` of an earlier `capture`. One in the background is waited for.
    pub(crate) on: Id,
    /// What the value is called in reports and lists.
    pub(crate) name: Label,
    /// What is measured, as `frequency_hz`; of times that there are many of, which of them, as `high_s.min`.
    pub(crate) quantity: Measurand,
    /// The channel, by its name in the capture. Without it the only one.
    pub(crate) channel: Option<Id>,
    /// Measures from this time on, counted from the first sample.
    pub(crate) from: Option<Time>,
    /// Measures up to this time; the capture must reach it. Without it to the last sample.
    pub(crate) to: Option<Time>,
    /// The lowest value that passes.
    pub(crate) low: Option<Templated<Decimal>>,
    /// The highest value that passes.
    pub(crate) high: Option<Templated<Decimal>>,
}

/// Decodes a capture.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Decode {
    /// The `id` of an earlier `capture`. One in the background is waited for.
    pub(crate) on: Id,
    /// By which rules.
    pub(crate) decoder: Decoder,
    /// Channels of the capture for the decoder's roles. A role that is left out has the channel of its name, unless that has
    /// another role or the decoder is a plugin's.
    #[serde(default)]
    pub(crate) channels: Names<Id, Id>,
    /// Options of the decoder, as `baudrate`. With `uart`, `format` is `ascii` if it is left out.
    #[serde(default)]
    pub(crate) options: Names<Id, Text>,
    /// Classes or rows of the decoder that are kept, as `rx-data`. Without it all but single bits.
    #[serde(default)]
    pub(crate) annotations: List<Id, LIST_MAX>,
}

/// Plays a waveform on the DAC.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Replay {
    /// A kept waveform, by name or id.
    pub(crate) waveform: Templated<Label>,
    /// The output.
    pub(crate) output: Output,
    /// Levels as they are, or stretched to the output's whole range. Without it `faithful`.
    #[serde(default)]
    pub(crate) mapping: Mapping,
    /// Samples per second. Without it the waveform's own.
    pub(crate) rate: Option<Rate>,
}

/// An output of the DAC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum Output {
    /// Up to 3.3 V.
    #[serde(rename = "3v3")]
    V3,
    /// Up to 5 V.
    #[serde(rename = "5v")]
    V5,
    /// Up to 12 V.
    #[serde(rename = "12v")]
    V12,
    /// The current output.
    #[serde(rename = "current_out")]
    Current,
}

/// How levels become codes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mapping {
    /// Each level as it is, as far as the output reaches.
    #[default]
    Faithful,
    /// The lowest level at the output's low end, the highest at its high end.
    Fit,
}
