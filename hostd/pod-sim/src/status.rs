//! What the simulated pod reports about itself.

use pod_protocol::capture::ConditionKind;
use pod_protocol::chunk::raw;
use pod_protocol::{CAPTURE_PRE, CAPTURE_STREAM, Capabilities};
use serde_json::{Map, Value, json};

use super::analog::Input;
use super::control::LoopState;
use super::image::GATEWARE;
use super::world::World;

/// The firmware's name for the board; it implies the front end's nominal full scale.
const BOARD: &str = "stm32h563";
const FULL_SCALE_MV: u32 = 4096;

/// Present on every board.
const CAPS: [&str; 25] = [
    "signal",
    "la",
    "gpio",
    "power",
    "la_pins",
    "gpio_read",
    ConditionKind::Edge.capability(),
    ConditionKind::Pulse.capability(),
    ConditionKind::Pattern.capability(),
    ConditionKind::Level.capability(),
    CAPTURE_PRE,
    CAPTURE_STREAM,
    "capture_b64",
    raw::CAPABILITY,
    "command",
    "uart",
    "swd",
    "can",
    "power_profile",
    "spi_master",
    "spi_stream",
    "i2c_sensor",
    "sensor_types",
    "gps",
    "ota",
];

/// Present on the third revision.
const V3_CAPS: [&str; 3] = ["nrst_pin", "usb_cc", "pod_current"];

/// Present with the analog front end.
const ANALOG_CAPS: [&str; 8] = [
    "analog",
    "scope",
    "dac",
    "dac_dc",
    "current_out",
    "calibrate",
    "cal_dmm",
    "dac_limits",
];

/// Present if the DAC plays waveforms.
const AC_CAPS: [&str; 5] = [
    "dac_cotrig",
    "generate16",
    "dac_replay",
    "dac_loop_sources",
    "dac_loop_input_map",
];

/// The data of `status`.
pub(crate) fn status(world: &World, now_ns: u64) -> Value {
    let config = &world.config;
    let analog = config.board.is_analog();
    let v3 = config.board.is_v3();
    let mut caps = CAPS.to_vec();
    if v3 {
        caps.extend(V3_CAPS);
    }
    if analog {
        caps.extend(ANALOG_CAPS);
    }
    if analog && config.ac_dac {
        caps.extend(AC_CAPS);
        caps.push(world.image.capability());
    }
    caps.retain(|cap| config.firmware.has_capability(cap));
    let walk = world.converters.walk(now_ns);
    let tripped = walk.running().is_some_and(LoopState::is_tripped);
    let mut status = json!({
        "device": "benchpod",
        "board": BOARD,
        "version": config.firmware.to_string(),
        "board_rev": config.board.revision(),
        "board_rev_mv": config.board.strap_mv(),
        "gateware": GATEWARE,
        "gateware_embedded": GATEWARE,
        "la_vccio_mv": world.digital.pins.bank_mv(),
        "analog": analog,
        "nrst_pin": v3,
        "usb_cc": v3,
        "caps": caps,
        "flash_kb": config.flash_kb,
        "last_crash": "none",
        "reset": world.boot.cause(),
        "loop_tripped": tripped,
        "uptime_ms": world.boot.uptime_ms(),
    });
    if analog {
        let fit = world.converters.input_fit(Input::Ext);
        let fields = [
            ("adc_bits", json!(16)),
            ("adc_channels", json!(1)),
            ("adc_fullscale_mv", json!(FULL_SCALE_MV)),
            ("adc_cal_a_uv", json!(whole(fit.a * 1e6))),
            ("adc_cal_b_nv", json!(whole(fit.b * 1e9))),
            ("adc_cal_unwrap", json!(true)),
        ];
        let map: &mut Map<String, Value> = status.as_object_mut().expect("built as an object");
        map.extend(fields.map(|(name, value)| (name.to_owned(), value)));
    }
    let map: &mut Map<String, Value> = status.as_object_mut().expect("built as an object");
    let more = world
        .settings
        .status(config.update_keys.len(), now_ns)
        .into_iter();
    let more = more.chain(world.access.status(now_ns));
    map.extend(more.map(|(name, value)| (name.to_owned(), value)));
    status
}

/// What the pod can do only over a link that it dials itself.
const DIALLED: [&str; 4] = ["command", "tunnel", "lease_state", "ws_auth_v2"];

/// What the pod announces to a server that it dials.
pub(crate) fn announced(world: &World, now_ns: u64) -> Map<String, Value> {
    let status = status(world, now_ns);
    let status = status.as_object().expect("built as an object");
    let typed = |text: &String| match text.parse::<i64>() {
        Ok(number) => json!(number),
        Err(_) => text
            .parse::<bool>()
            .map_or_else(|_| json!(text), |flag| json!(flag)),
    };
    let known = Capabilities::from_status(status).parameters;
    let mut fields: Map<String, Value> = known
        .iter()
        .filter_map(|(name, value)| Some((name.strip_prefix("cap.")?.to_owned(), typed(value))))
        .collect();
    fields.extend(DIALLED.map(|name| (name.to_owned(), json!(true))));
    fields
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "fits are a few dozen volts"
)]
fn whole(value: f64) -> i64 {
    value.round() as i64
}
