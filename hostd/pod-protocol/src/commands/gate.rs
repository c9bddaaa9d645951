//! Preconditions that a pod checks before the rest of a request.

use serde_json::{Map, Value};

/// A precondition of a command, and the refusal if it is not met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// The board has the analog front end.
    Analog,
    /// The board has it, if this field is above 0.
    AnalogFor(&'static str),
    /// The DAC plays waveforms.
    Waveforms,
    /// The board is of the third revision.
    BoardV3,
    /// The voltage of the LA bank has been selected.
    LaVoltage,
    /// No other capture, upload or read-back uses the capture hardware.
    CaptureHardware,
    /// The same, if this field is given.
    CaptureHardwareFor(&'static str),
    /// Gateware image 0 is loaded.
    LoopImage,
    /// No limits are set for the DAC.
    NoDacLimits,
}

impl Gate {
    /// Whether the gate applies to `request`.
    pub fn applies(self, request: &Map<String, Value>) -> bool {
        match self {
            Self::AnalogFor(field) => request
                .get(field)
                .and_then(Value::as_f64)
                .is_some_and(|number| number > 0.0),
            Self::CaptureHardwareFor(field) => {
                request.get(field).is_some_and(|value| !value.is_null())
            }
            _ => true,
        }
    }

    /// How the refusal begins.
    pub const fn refusal(self) -> &'static str {
        match self {
            Self::Analog | Self::AnalogFor(_) => "this BenchPod has no analog front end",
            Self::Waveforms => "this board plays no waveforms",
            Self::BoardV3 => "`…` needs a v3 board",
            Self::LaVoltage => "la voltage not set",
            Self::CaptureHardware | Self::CaptureHardwareFor(_) => "busy",
            Self::LoopImage => "the control loop needs image 0",
            Self::NoDacLimits => "DAC limits",
        }
    }
}
