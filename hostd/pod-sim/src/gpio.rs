//! The commands for pins: `gpio`, `la` (resistors and step trains), `la_pins`, `la_voltage`.

use pod_protocol::LA_CHANNELS;
use serde_json::{Value, json};

use super::args::Args;
use super::board::Board;
use super::digital::Digital;
use super::pins::{Mode, Owner, Pins};
use super::refuse::Refuse;

/// Phase lengths of a step train, in microseconds.
const STEP_DELAY_US: std::ops::RangeInclusive<i64> = 4..=65_535;

const STEPS: std::ops::RangeInclusive<i64> = 1..=65_535;

/// `la_voltage`: selects the bank voltage, or only reads it.
pub(crate) fn la_voltage(
    pins: &mut Pins,
    board: Board,
    args: &Args<'_>,
    now_ns: u64,
) -> Result<Value, Refuse> {
    let v3 = board.is_v3();
    if let Some(mv) = args.int("mv", 0..=5_000)? {
        match mv {
            1800 if !v3 => return Err(Refuse::LaVoltageNeedsV3),
            1800 => pins.select_bank(1800, now_ns)?,
            3300 => pins.select_bank(3300, now_ns)?,
            _ => {
                return Err(Refuse::Bad {
                    field: "mv",
                    want: "1800 or 3300",
                });
            }
        }
    }
    let mv = pins.bank_mv();
    // The v3 rail starts at 3.3 V before anything is selected; v2 has no read-back.
    let rail_mv = if mv == 0 { 3300 } else { mv };
    let readback_mv = if v3 { rail_mv } else { 0 };
    Ok(json!({"mv": mv, "st": u8::from(rail_mv == 3300), "readback_mv": readback_mv}))
}

/// `la_pins`: the pin table.
pub(crate) fn la_pins(digital: &Digital, now_ns: u64) -> Value {
    let pins: Vec<Value> = (1..=LA_CHANNELS)
        .map(|la| digital.pins.entry(la, now_ns))
        .collect();
    json!({"pins": pins, "levels": digital.word(now_ns)})
}

/// `la`: one bias resistor, all of them, or a step train.
pub(crate) fn la(pins: &mut Pins, args: &Args<'_>, now_ns: u64) -> Result<Value, Refuse> {
    pins.need_bank()?;
    let Some(la) = args.la("la")? else {
        return Ok(pins.pull_mask_report(now_ns));
    };
    if args.has("steps") {
        return step_train(pins, la, args, now_ns);
    }
    match args.text("pullup")? {
        Some("on") => pins.set_pull(la, true, now_ns)?,
        Some("off") => pins.set_pull(la, false, now_ns)?,
        None => {}
        Some(_) => {
            return Err(Refuse::Bad {
                field: "pullup",
                want: "on or off",
            });
        }
    }
    pins.pull_report(la, now_ns)
}

fn step_train(pins: &mut Pins, la: u8, args: &Args<'_>, now_ns: u64) -> Result<Value, Refuse> {
    let steps: u64 = args.uint("steps", STEPS)?.expect("checked by the caller");
    let delay_us: u64 = args
        .uint("delay_us", STEP_DELAY_US)?
        .ok_or(Refuse::Missing { field: "delay_us" })?;
    let level = args.flag("direction")?.unwrap_or(false);
    let direction = args.la("dir_la")?.map(|dir_la| (dir_la, level));
    let half_ns = delay_us * 1_000;
    pins.start_train(la, steps, half_ns, direction, now_ns)?;
    Ok(json!({"la": la, "steps": steps, "delay_us": delay_us, "status": "started"}))
}

/// `gpio`: reads all levels, configures channels, sets levels, or releases channels.
pub(crate) fn gpio(digital: &mut Digital, args: &Args<'_>, now_ns: u64) -> Result<Value, Refuse> {
    digital.pins.need_bank()?;
    let level = args.flag("level")?;
    let mode = match args.text("mode")? {
        None => None,
        Some("off") => return release(&mut digital.pins, args, now_ns),
        Some("output") => Some(Mode::Output),
        Some("open_drain") => Some(Mode::OpenDrain),
        Some("input") => Some(Mode::Input),
        Some(_) => {
            return Err(Refuse::Bad {
                field: "mode",
                want: "output, open_drain, input or off",
            });
        }
    };
    if mode.is_none() && level.is_none() && !args.has("la") {
        let table = la_pins(digital, now_ns);
        return Ok(table);
    }
    let channels = args.las()?.ok_or(Refuse::Missing { field: "la" })?;
    let wanted = channels
        .iter()
        .map(|la| wanted_owner(&digital.pins, *la, mode, level))
        .collect::<Result<Vec<_>, _>>()?;
    // All channels are checked before any of them is changed.
    for (la, owner) in channels.iter().zip(&wanted) {
        digital.pins.check_claim(*la, *owner, now_ns)?;
    }
    for (la, owner) in channels.iter().zip(wanted) {
        digital.pins.claim(*la, owner, now_ns);
    }
    Ok(entries(&digital.pins, &channels, now_ns))
}

fn wanted_owner(
    pins: &Pins,
    la: u8,
    mode: Option<Mode>,
    level: Option<bool>,
) -> Result<Owner, Refuse> {
    let Some(mode) = mode else {
        return match (pins.owner(la), level) {
            (
                Owner::Gpio {
                    mode: mode @ (Mode::Output | Mode::OpenDrain),
                    ..
                },
                Some(level),
            ) => Ok(Owner::Gpio { mode, level }),
            (_, Some(_)) => Err(Refuse::NotOutput { la }),
            (_, None) => Err(Refuse::Missing { field: "level" }),
        };
    };
    // An output starts low, an open drain starts released.
    let level = level.unwrap_or(mode == Mode::OpenDrain);
    Ok(Owner::Gpio { mode, level })
}

/// Releases GPIO channels only; other owners keep theirs.
fn release(pins: &mut Pins, args: &Args<'_>, now_ns: u64) -> Result<Value, Refuse> {
    if !args.has("la") {
        return Err(Refuse::Missing { field: "la" });
    }
    let channels = args.las()?.unwrap_or_else(|| (1..=LA_CHANNELS).collect());
    for la in &channels {
        if matches!(pins.owner(*la), Owner::Gpio { .. }) {
            pins.claim(*la, Owner::Free, now_ns);
        }
    }
    Ok(entries(pins, &channels, now_ns))
}

fn entries(pins: &Pins, channels: &[u8], now_ns: u64) -> Value {
    let entries: Vec<Value> = channels.iter().map(|la| pins.entry(*la, now_ns)).collect();
    json!({"pins": entries})
}

#[cfg(test)]
mod tests;
