//! The pod's own calibration: corrections on top of the fits built into the firmware.
//!
//! An ADC offset, found with the 4-20 mA input open, applies to every input. A line for an output
//! comes from two readings of a voltmeter; a gain for an input from a loop to such an output.

use serde_json::{Map, Value, json};

use super::analog::Input;
use super::board::{Board, Fit, OutputPath};
use super::frontend::built_in_input;

/// Codes per 8-bit level, the unit of the output fits.
pub(crate) const LEVEL_CODES: f64 = 256.0;

/// A measured ADC offset.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Offset {
    pub(crate) volts: f64,
    /// The mean unwrapped count of the open input.
    pub(crate) zero_count: f64,
}

/// The stored calibration.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Calibration {
    pub(crate) offset: Option<Offset>,
    /// Lines of the outputs, per 8-bit level like the built-in ones.
    pub(crate) dac: [Option<Fit>; 3],
    /// Gain corrections of the front connector and the two loops, as fractions.
    pub(crate) adc_gain: [Option<f64>; 3],
}

/// Inputs with a gain of their own, as requests name them.
pub(crate) const GAIN_INPUTS: [(&str, Input); 3] = [
    ("ext", Input::Ext),
    ("cal1", Input::Cal1),
    ("cal2", Input::Cal2),
];

pub(crate) fn gain_index(input: Input) -> usize {
    match input {
        Input::Ext => 0,
        Input::Cal1 | Input::CurrentIn => 1,
        Input::Cal2 => 2,
    }
}

impl Calibration {
    /// The fit in use for an input.
    pub(crate) fn input(&self, board: Board, input: Input) -> Fit {
        let built_in = built_in_input(board, input);
        let gain = 1.0 + self.adc_gain[gain_index(input)].unwrap_or(0.0);
        let offset = self.offset.map_or(0.0, |offset| offset.volts);
        Fit {
            a: (built_in.a - offset) * gain,
            b: built_in.b * gain,
        }
    }

    /// The fit in use for an output.
    pub(crate) fn output(&self, board: Board, path: OutputPath) -> Fit {
        self.dac[path.index()].unwrap_or_else(|| path.built_in(board))
    }

    /// The whole reply, except what a measurement adds.
    pub(crate) fn report(&self, board: Board) -> Value {
        let fit = self.input(board, Input::CurrentIn);
        let offset_v = self.offset.map_or(0.0, |offset| offset.volts);
        let dac: Map<String, Value> = OutputPath::ALL
            .into_iter()
            .map(|path| (path.name().to_owned(), self.line_report(board, path)))
            .collect();
        let gains: Map<String, Value> = GAIN_INPUTS
            .into_iter()
            .map(|(name, input)| {
                let ppm = self.adc_gain[gain_index(input)].map(|gain| whole(gain * 1e6));
                (name.to_owned(), json!(ppm))
            })
            .collect();
        let dmm = self.dac.iter().any(Option::is_some) || self.adc_gain.iter().any(Option::is_some);
        let mut report = json!({"source": "current_in", "calibrated": self.offset.is_some(),
            "offset_uv": whole(offset_v * 1e6), "offset_mv": whole(offset_v * 1e3),
            "a_uv": whole(fit.a * 1e6), "b_nv": whole(fit.b * 1e9),
            "dac": dac, "adc_gain_ppm": gains, "dmm": dmm});
        if let Some(offset) = self.offset {
            report["zero_count_mc"] = whole(offset.zero_count * 1e3).into();
        }
        report
    }

    fn line_report(&self, board: Board, path: OutputPath) -> Value {
        let Some(line) = self.dac[path.index()] else {
            return Value::Null;
        };
        let built_in = path.built_in(board);
        // The bipolar output is compared at 0 V, the others at code 0.
        let at_level = match path {
            OutputPath::V12 => -built_in.a / built_in.b,
            OutputPath::V3 | OutputPath::V5 => 0.0,
        };
        let off = line.volts(at_level) - built_in.volts(at_level);
        json!({"a_uv": whole(line.a * 1e6), "b_pv": whole(line.b / LEVEL_CODES * 1e12),
            "offset_uv": whole(off * 1e6), "gain_ppm": whole((line.b / built_in.b - 1.0) * 1e6)})
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "calibration values are far below 2^53"
)]
pub(crate) fn whole(value: f64) -> i64 {
    value.round() as i64
}
