//! The commands that set the output of the DAC, and its limits.

use serde_json::{Value, json};

use super::args::Args;
use super::board::OutputPath;
use super::converters::Converters;
use super::limits;
use super::refuse::Refuse;

/// The 8-bit level nearest to a 16-bit code.
fn level(code: u16) -> u16 {
    (u32::from(code) + 128).checked_div(256).map_or(0, |level| {
        u16::try_from(level.min(255)).expect("at most 255")
    })
}

/// `dac_set`: an 8-bit level, no routing.
pub(crate) fn dac_set(
    converters: &mut Converters,
    args: &Args<'_>,
    now_ns: u64,
) -> Result<Value, Refuse> {
    let value: u16 = args
        .uint("value", 0..=255)?
        .ok_or(Refuse::Missing { field: "value" })?;
    converters.dac.hold(value << 8, now_ns);
    Ok(Value::Null)
}

/// `dac_out`: routes an output and sets its voltage, as near as possible.
pub(crate) fn dac_out(
    converters: &mut Converters,
    args: &Args<'_>,
    now_ns: u64,
) -> Result<Value, Refuse> {
    let path = args
        .text("path")?
        .ok_or(Refuse::Missing { field: "path" })?;
    let volts = args.number("volts")?;
    if path == "off" {
        converters.route("off", now_ns)?;
        return Ok(json!({"path": "off", "mv": 0, "code": -1}));
    }
    let output = OutputPath::from_name(path).ok_or(BAD_PATH)?;
    let fit = converters.output_fit(output);
    let code = volts.map(|volts| fit.code(volts));
    if let Some(code) = code {
        converters.check_codes(code, code)?;
    }
    let name = converters.route(path, now_ns)?;
    let Some(code) = code else {
        return Ok(json!({"path": name, "mv": 0, "code": -1}));
    };
    converters.dac.hold(code, now_ns);
    let achieved = fit.code_volts(code);
    Ok(
        json!({"path": name, "mv": whole(achieved * 1e3), "uv": whole(achieved * 1e6),
        "code": level(code), "code16": code}),
    )
}

/// A path that is not an output.
pub(crate) const BAD_PATH: Refuse = Refuse::Bad {
    field: "path",
    want: "3v3, 5v, 12v or off",
};

#[allow(
    clippy::cast_possible_truncation,
    reason = "volts of an output in µV are far below 2^53"
)]
fn whole(value: f64) -> i64 {
    value.round() as i64
}

/// `dac_limits`: reads, sets or clears the limits.
pub(crate) fn dac_limits(
    converters: &mut Converters,
    args: &Args<'_>,
    now_ns: u64,
) -> Result<Value, Refuse> {
    if let Some(path) = args.text("path")? {
        let set = limits::from_args(converters.board(), path, args)?;
        converters.stored.limits = Some(set);
        converters.park(now_ns);
        let mut report = set.report();
        report["park_mv"] = set.park_mv().into();
        return Ok(report);
    }
    if args.flag("enabled")? == Some(false) {
        converters.stored.limits = None;
    }
    Ok(match converters.stored.limits {
        Some(limits) => limits.report(),
        None => {
            json!({"enabled": false, "path": "", "inverted": false, "min_mv": 0, "max_mv": 0})
        }
    })
}
