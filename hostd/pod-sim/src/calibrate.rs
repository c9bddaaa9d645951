//! `calibrate`: finds the form of a request, and answers the forms that need no measurement.

use serde_json::Value;

mod run;

pub(crate) use run::{Measurement, run};

use super::analog::Input;
use super::args::Args;
use super::board::{Fit, OutputPath};
use super::calibration::{Calibration, GAIN_INPUTS, LEVEL_CODES, gain_index};
use super::converters::Converters;
use super::refuse::Refuse;
use run::Gain;

/// Two points closer than this do not define a line.
const CODES_APART_MIN: u16 = 8192;

/// How far a reading may be from the built-in line, as a fraction of the output's span.
const FAR: f64 = 0.03;

/// Largest gain correction, as a fraction.
const GAIN_MAX: f64 = 0.02;

/// How a `calibrate` command continues.
pub(crate) enum Asked {
    Reply(Value),
    Measure(Measurement),
}

/// Reads, clears or stores a line, or returns what to measure.
pub(crate) fn calibrate(converters: &mut Converters, args: &Args<'_>) -> Result<Asked, Refuse> {
    if let Some(source) = args.text("source")? {
        return match source {
            "current_in" => Ok(Asked::Measure(Measurement::Offset)),
            _ => Err(Refuse::Bad {
                field: "source",
                want: "current_in",
            }),
        };
    }
    if args.has("clear") {
        clear(converters, args)?;
    } else if let Some(path) = args.text("dac")? {
        let path = OutputPath::from_name(path).ok_or(Refuse::Bad {
            field: "dac",
            want: "3v3, 5v or 12v",
        })?;
        converters.need_no_limits("calibrate")?;
        let line = line(converters, path, args)?;
        converters.stored.calibration.dac[path.index()] = Some(line);
    } else if let Some(input) = args.text("adc")? {
        converters.need_no_limits("calibrate")?;
        return gain(converters, input).map(Asked::Measure);
    }
    Ok(Asked::Reply(
        converters.stored.calibration.report(converters.board()),
    ))
}

fn clear(converters: &mut Converters, args: &Args<'_>) -> Result<(), Refuse> {
    let stored = &mut converters.stored.calibration;
    if args.0.get("clear").is_some_and(Value::is_string) {
        match args.text("clear")? {
            Some("offset") => stored.offset = None,
            Some("dac") => stored.dac = [None; 3],
            Some("adc") => stored.adc_gain = [None; 3],
            _ => {
                return Err(Refuse::Bad {
                    field: "clear",
                    want: "true, offset, dac or adc",
                });
            }
        }
    } else if args.flag("clear")? == Some(true) {
        *stored = Calibration::default();
    }
    Ok(())
}

/// The line through two readings of an output.
fn line(converters: &Converters, path: OutputPath, args: &Args<'_>) -> Result<Fit, Refuse> {
    let code = |field| {
        args.uint::<u16>(field, 0..=65_535)?
            .ok_or(Refuse::Missing { field })
    };
    let volts = |field| {
        let microvolts = args.number(field)?.ok_or(Refuse::Missing { field })?;
        Ok(microvolts / 1e6)
    };
    let points = [
        (code("code1")?, volts("uv1")?),
        (code("code2")?, volts("uv2")?),
    ];
    let [(code1, volts1), (code2, volts2)] = points;
    if code1.abs_diff(code2) < CODES_APART_MIN {
        return Err(Refuse::CodesTooClose {
            limit: CODES_APART_MIN,
        });
    }
    let built_in = path.built_in(converters.board());
    let span = built_in.b * LEVEL_CODES;
    for (code, volts) in points {
        let expected = built_in.code_volts(code);
        if (volts - expected).abs() > FAR * span {
            return Err(Refuse::far(volts, expected));
        }
    }
    let slope = (volts2 - volts1) / (f64::from(code2) - f64::from(code1)) * LEVEL_CODES;
    check_gain(slope / built_in.b - 1.0)?;
    Ok(Fit {
        a: volts1 - slope * f64::from(code1) / LEVEL_CODES,
        b: slope,
    })
}

fn check_gain(gain: f64) -> Result<(), Refuse> {
    if gain.abs() > GAIN_MAX {
        return Err(Refuse::GainOff {
            percent: format!("{:.1}", gain * 100.0),
        });
    }
    Ok(())
}

/// Prepares the measurement of an input's gain.
fn gain(converters: &Converters, name: &str) -> Result<Measurement, Refuse> {
    let named = GAIN_INPUTS.into_iter().find(|(input, _)| *input == name);
    let (_, input) = named.ok_or(Refuse::Bad {
        field: "adc",
        want: "cal1, cal2 or ext",
    })?;
    let (output, path) = match input {
        Input::Cal1 | Input::CurrentIn => (OutputPath::V5, "cal1"),
        Input::Cal2 => (OutputPath::V12, "cal2"),
        Input::Ext => (OutputPath::V12, "dac_12v"),
    };
    let stored = &converters.stored.calibration;
    if stored.offset.is_none() {
        return Err(Refuse::NeedsOffset);
    }
    let line = stored.dac[output.index()].ok_or(Refuse::NeedsLine {
        path: output.name(),
    })?;
    let set_points = match output {
        OutputPath::V12 => [-5.0, 5.0],
        OutputPath::V3 | OutputPath::V5 => [1.0, 4.0],
    };
    Ok(Measurement::Gain(Gain {
        index: gain_index(input),
        input,
        path,
        codes: set_points.map(|volts| line.code(volts)),
        line,
    }))
}

#[cfg(test)]
mod tests;
