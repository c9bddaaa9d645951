//! A client's order for a capture: in the words of the API, before anything is checked.

use std::fmt;

pub use pods::{Condition, Edge, Length};
pub use store::captures::Origin;

/// The job that orders it, and what of that job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfJob {
    /// Job id.
    pub job: String,
    pub origin: Origin,
}

/// A capture as it was ordered.
#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    pub name: Option<String>,
    pub trigger: Option<Trigger>,
    /// How many of the samples come before the trigger: of the logic analyzer, or of the ADC alone.
    pub pre_samples: u64,
    pub wanted: Wanted,
}

/// What it waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trigger {
    pub wait: Wait,
    pub timeout_ms: u32,
}

/// Who sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wait {
    /// The device.
    Device(Condition),
    /// A decoder of ours, in samples that come while they are taken.
    Bus(Bus),
}

/// What a decoder waits for. Channels are those of the logic analyzer, from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bus {
    /// An address, answered or not.
    I2c {
        /// None: the lines of a capture of an I²C bus; in a checked order there are some.
        lines: Option<(u8, u8)>,
        address: u8,
        /// To read or to write; none: either.
        is_read: Option<bool>,
    },
    /// Bytes one after another, none being any.
    Uart {
        rx: u8,
        bytes: Vec<Option<u8>>,
        /// Options of the decoder, and their values.
        options: Vec<(String, String)>,
    },
}

impl fmt::Display for Bus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::I2c {
                lines,
                address,
                is_read,
            } => {
                write!(f, "I\u{b2}C address 0x{address:02X}")?;
                match is_read {
                    Some(true) => f.write_str(" to read")?,
                    Some(false) => f.write_str(" to write")?,
                    None => {}
                }
                match lines {
                    Some((scl, sda)) => write!(f, " on LA{scl} and LA{sda}"),
                    None => Ok(()),
                }
            }
            Self::Uart { rx, bytes, .. } => {
                f.write_str("bytes")?;
                for byte in bytes {
                    match byte {
                        Some(byte) => write!(f, " {byte:02X}")?,
                        None => f.write_str(" ??")?,
                    }
                }
                write!(f, " on LA{rx}")
            }
        }
    }
}

/// The samples that are wanted.
#[derive(Debug, Clone, PartialEq)]
pub enum Wanted {
    Scope(Scope),
    Logic(Logic),
    I2c(I2c),
    Dual(Dual),
    Measure(Measure),
}

/// Samples of the ADC alone.
#[derive(Debug, Clone, PartialEq)]
pub struct Scope {
    pub samples: u64,
    pub sample_rate_mhz: f64,
    /// `ext`, `cal1`, `cal2` or `current_in`; none leaves the pod's routing alone.
    pub source: Option<String>,
}

/// Samples of the logic analyzer alone.
#[derive(Debug, Clone, PartialEq)]
pub struct Logic {
    pub samples: u64,
    pub sample_rate_mhz: f64,
    /// Channels to keep, from 1; empty = all.
    pub channels: Vec<u8>,
    /// Level of the input bank to select first, in millivolts.
    pub voltage_mv: Option<u32>,
}

/// Samples of two logic-analyzer lines that form an I²C bus.
#[derive(Debug, Clone, PartialEq)]
pub struct I2c {
    pub samples: u64,
    pub sample_rate_mhz: f64,
    pub sda: u8,
    pub scl: u8,
    /// Level of the input bank to select first, in millivolts.
    pub voltage_mv: Option<u32>,
}

/// Samples of ADC and logic analyzer from one trigger.
#[derive(Debug, Clone, PartialEq)]
pub struct Dual {
    pub adc_samples: u64,
    pub adc_rate_mhz: f64,
    pub la_samples: u64,
    pub la_rate_mhz: f64,
}

/// One stimulus, and the ADC in phase with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    pub stimulus: Stimulus,
    pub samples: u64,
    pub sample_rate_mhz: f64,
    /// Wait between routing and sampling, in milliseconds.
    pub settle_ms: u32,
}

/// Where a measurement's stimulus comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum Stimulus {
    /// The pod makes it.
    Generate(Generated),
    /// The DAC plays samples that come with the order.
    Play,
}

/// One period of a signal, as long as the capture.
#[derive(Debug, Clone, PartialEq)]
pub struct Generated {
    /// `sine`, `square` or `sawtooth`
    pub waveform: String,
    /// Hertz.
    pub freq: f64,
    /// Peak deviation in 8-bit DAC levels.
    pub amplitude: u32,
    /// Centre in 8-bit DAC levels.
    pub offset: u32,
}
