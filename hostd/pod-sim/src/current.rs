//! `current_out`: the 4-20 mA output, which is the DAC behind a current source.

use serde_json::{Value, json};

use super::args::Args;
use super::converters::Converters;
use super::refuse::Refuse;

/// Always accepted: the live zero, as near as the output can get.
const LIVE_ZERO_UA: f64 = 4000.0;

/// Largest current that a request may name, in µA.
const UA_MAX: i64 = 1_000_000;

const CODE_MAX: f64 = 65_535.0;

/// Reads the range, or switches the voltage outputs off and sets the nearest possible current.
pub(crate) fn current_out(
    converters: &mut Converters,
    args: &Args<'_>,
    now_ns: u64,
) -> Result<Value, Refuse> {
    let range = converters.board().current_range();
    let (min_ua, max_ua) = (whole(range.min_ua), whole(range.max_ua));
    let Some(ua) = args.int("ua", -UA_MAX..=UA_MAX)? else {
        return Ok(json!({"min_ua": min_ua, "max_ua": max_ua}));
    };
    converters.need_no_limits("current_out")?;
    if ua < whole(LIVE_ZERO_UA) || ua > max_ua {
        return Err(Refuse::CurrentRange { min_ua, max_ua });
    }
    let ua = f64::from(i32::try_from(ua).expect("at most 1 A in µA"));
    let slope = (range.max_ua - range.min_ua) / CODE_MAX;
    let code = ((ua - range.min_ua) / slope).round().clamp(0.0, CODE_MAX);
    let code = u16::try_from(whole(code)).expect("clamped to 16 bits");
    converters.route("current_out", now_ns)?;
    converters.dac.hold(code, now_ns);
    let achieved = range.min_ua + slope * f64::from(code);
    Ok(json!({"ua": whole(achieved), "code": code, "min_ua": min_ua, "max_ua": max_ua}))
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "currents and codes are far below 2^53"
)]
fn whole(value: f64) -> i64 {
    value.round() as i64
}

#[cfg(test)]
mod tests;
