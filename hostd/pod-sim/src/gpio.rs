//! The commands that work on pins: `gpio`, `la` (resistors and step trains), `la_pins`,
//! `la_voltage`.

use pod_protocol::LA_CHANNELS;
use serde_json::{Value, json};

use super::args::Args;
use super::pins::{Mode, Owner};
use super::refuse::Refuse;
use super::world::World;

/// Shortest phase of a step train.
const STEP_DELAY_US: std::ops::RangeInclusive<i64> = 4..=65_535;

const STEPS: std::ops::RangeInclusive<i64> = 1..=65_535;

/// `la_voltage`: selects the bank voltage, or only reads it.
pub(crate) fn la_voltage(world: &mut World, args: &Args<'_>, now_ns: u64) -> Result<Value, Refuse> {
    let v3 = world.config.board.is_v3();
    if let Some(mv) = args.int("mv", 0..=5_000)? {
        match mv {
            1800 if !v3 => return Err(Refuse::LaVoltageNeedsV3),
            1800 => world.pins.select_bank(1800, now_ns)?,
            3300 => world.pins.select_bank(3300, now_ns)?,
            _ => {
                return Err(Refuse::Bad {
                    field: "mv",
                    want: "1800 or 3300",
                });
            }
        }
    }
    let mv = world.pins.bank_mv();
    // The v3 rail comes up at 3.3 V before anything is selected; v2 has no read-back.
    let rail_mv = if mv == 0 { 3300 } else { mv };
    let readback_mv = if v3 { rail_mv } else { 0 };
    Ok(json!({"mv": mv, "st": u8::from(rail_mv == 3300), "readback_mv": readback_mv}))
}

pub(crate) fn need_bank(world: &World) -> Result<(), Refuse> {
    match world.pins.bank_mv() {
        0 => Err(Refuse::LaVoltageUnset),
        _ => Ok(()),
    }
}

/// `la_pins`: the pin table.
pub(crate) fn la_pins(world: &World, now_ns: u64) -> Value {
    let pins: Vec<Value> = (1..=LA_CHANNELS)
        .map(|la| world.pins.entry(la, now_ns))
        .collect();
    json!({"pins": pins, "levels": world.word(now_ns)})
}

/// `la`: a bias resistor, all of them, or a step train.
pub(crate) fn la(world: &mut World, args: &Args<'_>, now_ns: u64) -> Result<Value, Refuse> {
    need_bank(world)?;
    let Some(la) = args.la("la")? else {
        return Ok(world.pins.pull_mask_report(now_ns));
    };
    if args.has("steps") {
        return step_train(world, la, args, now_ns);
    }
    match args.text("pullup")? {
        Some("on") => world.pins.set_pull(la, true, now_ns)?,
        Some("off") => world.pins.set_pull(la, false, now_ns)?,
        None => {}
        Some(_) => {
            return Err(Refuse::Bad {
                field: "pullup",
                want: "on or off",
            });
        }
    }
    world.pins.pull_report(la, now_ns)
}

fn step_train(world: &mut World, la: u8, args: &Args<'_>, now_ns: u64) -> Result<Value, Refuse> {
    let steps: u64 = args.uint("steps", STEPS)?.expect("checked by the caller");
    let delay_us: u64 = args
        .uint("delay_us", STEP_DELAY_US)?
        .ok_or(Refuse::Missing { field: "delay_us" })?;
    let level = args.flag("direction")?.unwrap_or(false);
    let direction = args.la("dir_la")?.map(|dir_la| (dir_la, level));
    let half_ns = delay_us * 1_000;
    world
        .pins
        .start_train(la, steps, half_ns, direction, now_ns)?;
    Ok(json!({"la": la, "steps": steps, "delay_us": delay_us, "status": "started"}))
}

/// `gpio`: reads all levels, configures channels, sets levels, or releases channels.
pub(crate) fn gpio(world: &mut World, args: &Args<'_>, now_ns: u64) -> Result<Value, Refuse> {
    need_bank(world)?;
    let level = args.flag("level")?;
    let mode = match args.text("mode")? {
        None => None,
        Some("off") => return release(world, args, now_ns),
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
        let table = la_pins(world, now_ns);
        return Ok(table);
    }
    let channels = args.las()?.ok_or(Refuse::Missing { field: "la" })?;
    let wanted = channels
        .iter()
        .map(|la| wanted_owner(world, *la, mode, level))
        .collect::<Result<Vec<_>, _>>()?;
    // All channels are checked before any of them changes.
    for (la, owner) in channels.iter().zip(&wanted) {
        world.pins.check_claim(*la, *owner, now_ns)?;
    }
    for (la, owner) in channels.iter().zip(wanted) {
        world.pins.claim(*la, owner, now_ns);
    }
    Ok(entries(world, &channels, now_ns))
}

fn wanted_owner(
    world: &World,
    la: u8,
    mode: Option<Mode>,
    level: Option<bool>,
) -> Result<Owner, Refuse> {
    let Some(mode) = mode else {
        return match (world.pins.owner(la), level) {
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
    // An output starts low, an open drain released.
    let level = level.unwrap_or(mode == Mode::OpenDrain);
    Ok(Owner::Gpio { mode, level })
}

/// Only GPIO channels are released; other owners keep theirs.
fn release(world: &mut World, args: &Args<'_>, now_ns: u64) -> Result<Value, Refuse> {
    if !args.has("la") {
        return Err(Refuse::Missing { field: "la" });
    }
    let channels = args.las()?.unwrap_or_else(|| (1..=LA_CHANNELS).collect());
    for la in &channels {
        if matches!(world.pins.owner(*la), Owner::Gpio { .. }) {
            world.pins.claim(*la, Owner::Free, now_ns);
        }
    }
    Ok(entries(world, &channels, now_ns))
}

fn entries(world: &World, channels: &[u8], now_ns: u64) -> Value {
    let entries: Vec<Value> = channels
        .iter()
        .map(|la| world.pins.entry(*la, now_ns))
        .collect();
    json!({"pins": entries})
}

#[cfg(test)]
mod tests;
