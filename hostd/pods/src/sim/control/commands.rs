//! The three commands of the control loop.

use serde_json::{Value, json};

use super::{Loop, Source, TABLE, table};
use crate::protocol::chunk::decode_b64;
use crate::sim::args::Args;
use crate::sim::dac::Output;
use crate::sim::image::Image;
use crate::sim::refuse::Refuse;
use crate::sim::world::World;

const DEFAULT_K: u16 = 8192;
const DEFAULT_TICK_DIV: u16 = 64;
const K_MAX: u16 = 32_767;
const TICK_DIV_MIN: u16 = 8;

/// Fields of an input map, which this loop does not have.
const MAP_FIELDS: [&str; 5] = [
    "in_mv_per_unit",
    "in_mv_at_zero",
    "in_min",
    "in_max",
    "in_trip",
];

/// `dac_control_loop`: arms the loop.
pub(crate) fn arm(world: &mut World, args: &Args<'_>, now_ns: u64) -> Result<Value, Refuse> {
    need_image(world)?;
    let word = |field, or| Ok(args.uint::<u16>(field, 0..=65_535)?.unwrap_or(or));
    let k: u16 = args.uint("k", 1..=65_535)?.unwrap_or(DEFAULT_K);
    let (vmin, vmax) = (word("vmin", 0)?, word("vmax", u16::MAX)?);
    if vmin > vmax {
        return Err(Refuse::Bad {
            field: "vmin",
            want: "at most vmax",
        });
    }
    if MAP_FIELDS.iter().any(|field| args.has(field)) {
        return Err(Refuse::NoInputMap);
    }
    let source = source(args)?.unwrap_or(Source::Adc);
    let (input, step) = (word("input", 0)?, word("step", 0)?);
    check_sweep(source, step)?;
    let points = args.text("curve")?.map(curve).transpose()?;
    let curve_pts = points.as_ref().map_or(0, Vec::len);
    if let Some(points) = points {
        world.curve = table(&points);
    }
    let running = Loop {
        k: k.min(K_MAX),
        vmin,
        vmax,
        tick_div: word("tick_div", DEFAULT_TICK_DIV)?.max(TICK_DIV_MIN),
        table: world.curve.clone(),
        source,
        input,
        step,
        start_ns: now_ns,
        from: world.dac.output().at(now_ns).code(now_ns),
        ext: world.config.ext.clone(),
        fit: world.config.board.adc_fits().ext,
        seed: world.config.seed,
    };
    let reply = json!({"armed": true, "k": running.k, "vmin": vmin, "vmax": vmax,
        "tick_div": running.tick_div, "curve_pts": curve_pts, "source": source.name(),
        "input": input, "step": step});
    world.dac.regulate(running, now_ns);
    Ok(reply)
}

/// `dac_loop_input`: changes what indexes the curve; what is absent stays.
pub(crate) fn input(world: &mut World, args: &Args<'_>, now_ns: u64) -> Result<Value, Refuse> {
    need_image(world)?;
    let mut running = running(world, now_ns).cloned().ok_or(Refuse::LoopIdle)?;
    let from = running.code(now_ns);
    running.source = source(args)?.unwrap_or(running.source);
    running.input = args.uint("input", 0..=65_535)?.unwrap_or(running.input);
    running.step = args.uint("step", 0..=65_535)?.unwrap_or(running.step);
    check_sweep(running.source, running.step)?;
    (running.from, running.start_ns) = (from, now_ns);
    let reply = json!({"source": running.source.name(), "input": running.input,
        "step": running.step, "v": from});
    world.dac.regulate(running, now_ns);
    Ok(reply)
}

/// `dac_loop_probe`: input and output as they are.
pub(crate) fn probe(world: &World, now_ns: u64) -> Result<Value, Refuse> {
    need_image(world)?;
    let code = world.dac.output().at(now_ns).code(now_ns);
    Ok(match running(world, now_ns) {
        Some(running) => json!({"i": running.count(now_ns), "v": code,
            "in": running.indexed_by(now_ns), "source": running.source.name(), "tripped": false}),
        None => {
            let fit = world.config.board.adc_fits().ext;
            let count = fit.count(world.config.ext.volts(world.config.seed, now_ns));
            json!({"i": count, "v": code, "in": count, "source": "adc", "tripped": false})
        }
    })
}

fn running(world: &World, now_ns: u64) -> Option<&Loop> {
    match world.dac.output().at(now_ns) {
        Output::Regulate(running) => Some(running),
        Output::Hold(_) | Output::Play { .. } => None,
    }
}

fn need_image(world: &World) -> Result<(), Refuse> {
    match world.image {
        Image::ControlLoop => Ok(()),
        Image::DeepReplay => Err(Refuse::LoopImage),
    }
}

fn source(args: &Args<'_>) -> Result<Option<Source>, Refuse> {
    let Some(name) = args.text("source")? else {
        return Ok(None);
    };
    Source::from_name(name).map(Some).ok_or(Refuse::Bad {
        field: "source",
        want: "adc, fixed or sweep",
    })
}

fn check_sweep(source: Source, step: u16) -> Result<(), Refuse> {
    if source == Source::Sweep && step == 0 {
        return Err(Refuse::Bad {
            field: "step",
            want: "at least 1 for a sweep",
        });
    }
    Ok(())
}

fn curve(text: &str) -> Result<Vec<u16>, Refuse> {
    let points = decode_b64(text).ok();
    let fitting = points.filter(|points| (1..=TABLE).contains(&points.len()));
    fitting.ok_or(Refuse::Bad {
        field: "curve",
        want: "base64url of 1 to 2048 points",
    })
}
