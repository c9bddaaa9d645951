//! The analog switches, and what is connected to the inputs.

use std::f64::consts::TAU;

use serde_json::{Value, json};

use super::args::Args;
use super::board::OutputPath;
use super::noise::gaussian;
use super::refuse::Refuse;

/// Enable bits of the two halves of the DAC multiplexer.
const MUX_ENABLES: u8 = 0x09;

/// A voltage over time at an input.
#[derive(Debug, Clone, PartialEq)]
pub struct AnalogSource {
    /// The signal.
    pub signal: Signal,
    /// Standard deviation of the noise on it, in volts.
    pub noise_v: f64,
}

/// The waveform of an input's voltage. Phases count from the pod's start.
#[derive(Debug, Clone, PartialEq)]
pub enum Signal {
    /// A constant.
    Dc {
        /// Volts.
        volts: f64,
    },
    /// A sine.
    Sine {
        /// Hertz.
        freq_hz: f64,
        /// Peak, in volts.
        amplitude_v: f64,
        /// Centre, in volts.
        offset_v: f64,
    },
    /// A square wave that starts with its high half.
    Square {
        /// Hertz.
        freq_hz: f64,
        /// Peak, in volts.
        amplitude_v: f64,
        /// Centre, in volts.
        offset_v: f64,
    },
    /// A cable from the pod's own voltage output: whichever of the three outputs is routed, or 0 V.
    Output,
}

impl AnalogSource {
    /// An open front connector: slightly off 0 V, where the front end wraps.
    pub fn idle() -> Self {
        Self {
            signal: Signal::Dc { volts: 0.045 },
            noise_v: 0.000_5,
        }
    }

    /// An open 4-20 mA input: its sense resistor holds it at 0 V.
    pub(crate) fn open_current_input() -> Self {
        Self {
            signal: Signal::Dc { volts: 0.0 },
            noise_v: 0.000_2,
        }
    }

    /// Volts at an instant.
    pub(crate) fn volts(&self, seed: u64, at_ns: u64) -> f64 {
        let clean = match self.signal {
            Signal::Dc { volts } => volts,
            // Does not depend on time alone: the caller, which knows the output's level, adds it.
            Signal::Output => 0.0,
            Signal::Sine {
                freq_hz,
                amplitude_v,
                offset_v,
            } => offset_v + amplitude_v * (TAU * phase(freq_hz, at_ns)).sin(),
            Signal::Square {
                freq_hz,
                amplitude_v,
                offset_v,
            } => {
                let high = phase(freq_hz, at_ns) < 0.5;
                offset_v + if high { amplitude_v } else { -amplitude_v }
            }
        };
        clean + self.noise_v * gaussian(seed, at_ns)
    }
}

/// The phase of a signal within its period, 0..1.
#[allow(clippy::cast_precision_loss, reason = "exact for the first 104 days")]
fn phase(freq_hz: f64, at_ns: u64) -> f64 {
    (at_ns as f64 * 1e-9 * freq_hz).fract()
}

/// The two switch registers: DAC multiplexer and relays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Switches {
    pub(crate) mux: u8,
    pub(crate) relays: u8,
}

/// The ADC's possible connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input {
    Ext,
    Cal1,
    Cal2,
    CurrentIn,
}

impl Input {
    /// The path that routes the input which an `adc_read` source names.
    pub(crate) fn path(source: &str) -> Option<&'static str> {
        match source {
            "ext" | "adc_ext" | "sma" => Some("adc_ext"),
            "cal1" => Some("cal1"),
            "cal2" => Some("cal2"),
            "current_in" => Some("current_in"),
            _ => None,
        }
    }
}

impl Switches {
    /// Everything off, with the ADC on the front connector.
    pub(crate) const PARKED: Self = Self { mux: 0, relays: 0 };

    /// The registers after routing `path`, and its full name. `None` if there is no such path.
    pub(crate) fn routed(self, path: &str) -> Option<(&'static str, Self)> {
        let to = |mux, relays| Self { mux, relays };
        Some(match path {
            "off" => ("off", Self::PARKED),
            "dac_3v3" | "3v3" => ("dac_3v3", to(1, 0)),
            "dac_5v" | "5v" => ("dac_5v", to(3, 0)),
            "dac_12v" | "12v" => ("dac_12v", to(13, 0)),
            "adc_ext" | "ext" | "sma" => ("adc_ext", to(self.mux, 0)),
            "cal1" => ("cal1", to(3, 9)),
            "cal2" => ("cal2", to(31, 10)),
            "current_in" => ("current_in", to(self.mux, 4)),
            "current_out" => ("current_out", to(self.mux & !MUX_ENABLES, self.relays)),
            _ => return None,
        })
    }

    pub(crate) fn input(self) -> Input {
        match self.relays {
            relays if relays & 1 != 0 => Input::Cal1,
            relays if relays & 2 != 0 => Input::Cal2,
            relays if relays & 4 != 0 => Input::CurrentIn,
            _ => Input::Ext,
        }
    }

    /// The voltage output that is on the connector.
    pub(crate) fn output(self) -> Option<OutputPath> {
        match (self.mux & 1, (self.mux >> 1) & 3) {
            (1, 0) => Some(OutputPath::V3),
            (1, 1) => Some(OutputPath::V5),
            (1, _) => Some(OutputPath::V12),
            _ => None,
        }
    }

    /// Whether the 5 V output is on.
    pub(crate) fn out_5v_on(self) -> bool {
        self.mux & 0b111 == 0b011
    }

    /// Whether the 12 V output is connected to the ADC.
    pub(crate) fn out_12v_on_adc(self) -> bool {
        self.mux & 0b111 == 0b111
    }

    /// `cal_switch`: a request that names any relay sets all four.
    pub(crate) fn with_relays(self, args: &Args<'_>) -> Result<Self, Refuse> {
        let names = ["cal1", "cal2", "current_in", "cal_path"];
        if !names.iter().any(|name| args.has(name)) {
            return Ok(self);
        }
        let mut relays = 0;
        for (bit, name) in names.into_iter().enumerate() {
            relays |= u8::from(args.flag(name)?.unwrap_or(false)) << bit;
        }
        if relays & 3 == 3 {
            return Err(Refuse::BothLoopbacks);
        }
        Ok(Self { relays, ..self })
    }

    pub(crate) fn relay_report(self) -> Value {
        let relay = |bit: u8| (self.relays >> bit) & 1;
        json!({"cal1": relay(0), "cal2": relay(1), "current_in": relay(2), "cal_path": relay(3),
            "reg": self.relays})
    }

    /// `dac_mux`: a half whose enable bit is not named stays as it is.
    pub(crate) fn with_mux(self, args: &Args<'_>) -> Result<Self, Refuse> {
        let mut mux = self.mux;
        if let Some(on) = args.flag("ctrl1_en")? {
            let select: u8 = args.uint("ctrl1_sel", 0..=3)?.unwrap_or(0);
            mux = (mux & 0b11_1000) | u8::from(on) | (select << 1);
        }
        if let Some(on) = args.flag("ctrl2_en")? {
            let select: u8 = args.uint("ctrl2_sel", 0..=2)?.unwrap_or(0);
            mux = (mux & 0b00_0111) | (u8::from(on) << 3) | (select << 4);
        }
        Ok(Self { mux, ..self })
    }

    pub(crate) fn mux_report(self) -> Value {
        json!({"ctrl1_en": self.mux & 1, "ctrl1_sel": (self.mux >> 1) & 3,
            "ctrl2_en": (self.mux >> 3) & 1, "ctrl2_sel": (self.mux >> 4) & 3, "reg": self.mux})
    }
}
