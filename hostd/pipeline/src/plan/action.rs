//! The actions of steps with every placeholder replaced.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::definition::action::{BusDecoder, CaptureKind, Edge, Mapping, Output, Parity, Power};
use crate::definition::decoder::Decoder;
use crate::definition::measurand::Measurand;
use crate::definition::trigger::Direction;
use crate::rules::{Polarity, Rule};

/// What a step does.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Lines for `sh -e`.
    Run {
        /// The lines.
        script: String,
        /// An assertion judges the exit code: the step fails with none.
        any_exit_code: bool,
    },
    /// pytest.
    Pytest {
        /// A file or folder below the job's.
        path: String,
        /// After it.
        args: Vec<String>,
        /// An assertion judges the exit code: the step fails with none.
        any_exit_code: bool,
    },
    /// Switches a rail.
    Power(Power),
    /// Pulses the reset line.
    Reset {
        /// How long it is held, in milliseconds.
        pulse_ms: u64,
    },
    /// Programs the target.
    Flash(Flash),
    /// Talks to the serial line.
    Uart(Uart),
    /// Records signals.
    Capture(Capture),
    /// Judges a step.
    Assert {
        /// The id of that step.
        on: String,
        /// How.
        that: Assertion,
    },
    /// Measures a capture.
    Measure(Measure),
    /// Decodes a capture.
    Decode(Decode),
    /// Plays a waveform.
    Replay(Replay),
    /// Waits.
    Wait {
        /// Milliseconds.
        ms: u64,
    },
}

/// An artifact of this job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Artifact {
    /// The run that makes it.
    pub run: String,
    /// Its path below `$HOSTD_OUT` of that run.
    pub name: String,
}

/// Programs the target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Flash {
    /// What.
    pub artifact: Artifact,
    /// Read it back and compare.
    pub verify: bool,
    /// The chip: the step's, or that of the artifact's pack; none: what the device is wired to.
    pub target: Option<String>,
}

/// Talks to the serial line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Uart {
    /// Bits per second.
    pub baud: u64,
    /// None: as the device is set up.
    pub parity: Option<Parity>,
    /// None: those of the device's wiring.
    pub channels: Option<UartChannels>,
    /// Sent first.
    pub send: Option<String>,
    /// Must come.
    pub expect: Option<String>,
    /// Ends the reading.
    pub until: Option<String>,
}

/// Channels of the logic analyzer, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct UartChannels {
    /// Where the pod listens.
    pub rx: u64,
    /// What it drives.
    pub tx: u64,
}

/// Records signals.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Capture {
    /// What records.
    pub kind: CaptureKind,
    /// Channels of the logic analyzer, from 1, by name.
    pub channels: BTreeMap<String, u64>,
    /// Samples per second.
    pub rate_hz: u64,
    /// How many.
    pub samples: u64,
    /// None: it starts at once.
    pub trigger: Option<Trigger>,
    /// How many of the samples come before the trigger.
    pub pre_samples: u64,
}

/// What starts a capture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Trigger {
    /// What is waited for.
    #[serde(flatten)]
    pub wait: Wait,
    /// How long, in milliseconds.
    pub timeout_ms: u64,
}

/// What a capture waits for. Channels are those of the logic analyzer, from 1; times are nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Wait {
    /// An edge, or a level at once.
    Edge {
        /// The channel.
        channel: u64,
        /// What must happen on it.
        edge: Edge,
    },
    /// A pulse that is shorter, or longer.
    Pulse {
        /// The channel.
        channel: u64,
        /// The level of the pulse.
        level: Polarity,
        /// By which length.
        length: Length,
    },
    /// Levels of channels at one instant.
    Pattern {
        /// By channel.
        pattern: BTreeMap<u64, Polarity>,
    },
    /// A level for a time.
    Level {
        /// The channel.
        channel: u64,
        /// The level.
        level: Polarity,
        /// For how long.
        for_ns: u64,
    },
    /// An address on an I²C bus.
    I2c {
        /// The clock.
        scl: u64,
        /// The data.
        sda: u64,
        /// Of 7 bits.
        address: u64,
        /// None: either.
        direction: Option<Direction>,
    },
    /// Bytes on a line of a UART.
    Uart {
        /// The line.
        rx: u64,
        /// None: any.
        bytes: Vec<Option<u8>>,
        /// Bits per second.
        baudrate: u64,
        /// The parity bit.
        parity: Parity,
    },
}

/// The length of a pulse that is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Length {
    /// Shorter than so many nanoseconds.
    ShorterThan(u64),
    /// Longer than so many.
    LongerThan(u64),
}

/// How a step is judged.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Assertion {
    /// It ended with this code.
    ExitCode(u8),
    /// Its output has this text.
    Text(String),
    /// Traffic on a bus: transfers that have all of this.
    Bus {
        /// Reads the capture.
        decoder: BusDecoder,
        /// Their 7-bit address.
        address: Option<u8>,
        /// Bytes in them, one after the other.
        bytes: Vec<u8>,
        /// Whether the address is acknowledged.
        ack: Option<bool>,
        /// There are at least so many.
        min_count: u64,
    },
    /// Rules about the signals of a capture.
    Rules(Vec<Rule>),
    /// Rules that a file of the job has.
    RuleFile(String),
}

/// Measures a channel of a capture, and records the value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measure {
    /// The id of the capture's step.
    pub on: String,
    /// What the value is called.
    pub name: String,
    /// What is measured.
    pub quantity: Measurand,
    /// The channel's name in the capture; none: the only one.
    pub channel: Option<String>,
    /// Nanoseconds from the first sample on; none: from that one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_ns: Option<u64>,
    /// Up to there; none: to the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_ns: Option<u64>,
    /// The lowest value that passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// The highest value that passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

/// Decodes a capture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decode {
    /// The id of the capture's step.
    pub on: String,
    /// By which rules.
    pub decoder: Decoder,
    /// Names of the capture's channels by the decoder's roles.
    pub channels: BTreeMap<String, String>,
    /// Of the decoder.
    pub options: BTreeMap<String, String>,
    /// Classes or rows that are kept; none: all but single bits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub annotations: Vec<String>,
}

/// Plays a waveform.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Replay {
    /// A kept one, by name or id.
    pub waveform: String,
    /// Where.
    pub output: Output,
    /// How levels become codes.
    pub mapping: Mapping,
    /// Samples per second; none: the waveform's own.
    pub rate_hz: Option<u64>,
}
