//! The three commands of the control loop.

use pod_protocol::chunk::decode_b64;
use serde_json::{Value, json};

use super::args::Args;
use super::control::{InputMap, Loop, Source, TABLE, table};
use super::converters::Converters;
use super::image::Image;
use super::refuse::Refuse;

const DEFAULT_K: u16 = 8192;
const DEFAULT_TICK_DIV: u16 = 64;
const K_MAX: u16 = 32_767;
const TICK_DIV_MIN: u16 = 8;

/// `dac_control_loop`: arms the loop.
pub(crate) fn arm(
    converters: &mut Converters,
    image: Image,
    args: &Args<'_>,
    now_ns: u64,
) -> Result<Value, Refuse> {
    need_image(image)?;
    let word = |field, or| Ok(args.uint::<u16>(field, 0..=65_535)?.unwrap_or(or));
    let k: u16 = args.uint("k", 1..=65_535)?.unwrap_or(DEFAULT_K);
    let (vmin, vmax) = (word("vmin", 0)?, word("vmax", u16::MAX)?);
    if vmin > vmax {
        return Err(Refuse::Bad {
            field: "vmin",
            want: "at most vmax",
        });
    }
    let tick_div = word("tick_div", DEFAULT_TICK_DIV)?.max(TICK_DIV_MIN);
    let source = source(args)?.unwrap_or(Source::Adc);
    let (input, step) = (word("input", 0)?, word("step", 0)?);
    check_sweep(source, step)?;
    let routed = converters.switches.at(now_ns).input();
    let map = InputMap::from_args(args, converters.input_fit(routed))?;
    if source == Source::Sweep && map.is_some() {
        return Err(Refuse::SweptMap);
    }
    converters.check_codes(vmin, vmax)?;
    let points = args.text("curve")?.map(curve).transpose()?;
    let curve_pts = points.as_ref().map_or(0, Vec::len);
    if let Some(points) = points {
        converters.curve = points.into();
    }
    let entries = map.as_ref().map_or(TABLE, InputMap::entries);
    let mut reply = json!({"armed": true, "k": k.min(K_MAX), "vmin": vmin, "vmax": vmax,
        "tick_div": tick_div, "curve_pts": curve_pts, "source": source.name(),
        "input": input, "step": step});
    if let Some(map) = &map {
        map.report(reply.as_object_mut().expect("built as an object"));
    }
    let order = Loop {
        k: k.min(K_MAX),
        vmin,
        vmax,
        tick_div,
        table: table(&converters.curve, entries),
        source,
        input,
        step,
        map,
        start_ns: now_ns,
        tripped: false,
    };
    converters.dac.regulate(order, now_ns);
    Ok(reply)
}

/// `dac_loop_input`: changes what indexes the curve; absent fields keep their values.
pub(crate) fn input(
    converters: &mut Converters,
    image: Image,
    args: &Args<'_>,
    now_ns: u64,
) -> Result<Value, Refuse> {
    need_image(image)?;
    let walk = converters.walk(now_ns);
    let state = walk.running().ok_or(Refuse::LoopIdle)?;
    let mut order = state.order().clone();
    order.source = source(args)?.unwrap_or(order.source);
    order.input = args.uint("input", 0..=65_535)?.unwrap_or(order.input);
    order.step = args.uint("step", 0..=65_535)?.unwrap_or(order.step);
    check_sweep(order.source, order.step)?;
    if order.source == Source::Sweep && order.map.is_some() {
        return Err(Refuse::SweptMap);
    }
    order.start_ns = now_ns;
    order.tripped = state.is_tripped();
    let reply = json!({"source": order.source.name(), "input": order.input,
        "step": order.step, "v": walk.code()});
    converters.dac.regulate(order, now_ns);
    Ok(reply)
}

/// `dac_loop_probe`: the current input and output.
pub(crate) fn probe(converters: &Converters, image: Image, now_ns: u64) -> Result<Value, Refuse> {
    need_image(image)?;
    let mut player = converters.player(now_ns, now_ns);
    let count = player.count(now_ns);
    let walk = player.into_walk();
    let code = walk.code();
    Ok(match walk.running() {
        Some(state) => json!({"i": count, "v": code, "in": state.indexed_by(count, now_ns),
            "source": state.order().source.name(), "tripped": state.is_tripped()}),
        None => json!({"i": count, "v": code, "in": count, "source": "adc", "tripped": false}),
    })
}

fn need_image(image: Image) -> Result<(), Refuse> {
    match image {
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
