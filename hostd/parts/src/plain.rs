//! Commands about channels, of which a bench has none to choose from: its wires are fixed and have one level.

use serde_json::{Value, json};

use crate::args::Args;
use crate::bench::Parts;
use crate::refuse::Refuse;
use crate::sampling::Sampler;

/// The level of the inputs, in millivolts.
pub(crate) const LEVEL_MV: u32 = 3300;

/// `la_voltage`: there is nothing to select.
pub(crate) fn la_voltage(args: &Args<'_>) -> Result<Value, Refuse> {
    match args.int("mv", 0..=i64::MAX)? {
        Some(mv) if mv != i64::from(LEVEL_MV) => Err(Refuse::OneLevel),
        _ => Ok(json!({"mv": LEVEL_MV, "st": 1, "readback_mv": 0})),
    }
}

/// `analog_path`: there is one input, which is always routed.
pub(crate) fn analog_path(_: &Sampler, args: &Args<'_>) -> Result<Value, Refuse> {
    match args.text("path")? {
        Some("adc_ext") => Ok(json!({"path": "adc_ext"})),
        _ => Err(Refuse::OnePath),
    }
}

/// `la_pins`: the channels that open sessions were asked for, so that one sees when they have ended.
pub(crate) fn la_pins(parts: &Parts) -> Value {
    let uart = parts.uart.as_ref().and_then(|uart| uart.channels());
    let probe = parts.probe.as_ref().and_then(|probe| probe.channels());
    let pairs = [
        (uart, ["uart_rx", "uart_tx"]),
        (probe, ["swd_clk", "swd_dio"]),
    ];
    let mut pins = Vec::new();
    for (channels, [first, second]) in pairs {
        let Some((one, other)) = channels else {
            continue;
        };
        for (la, function) in [(one, first), (other, second)] {
            pins.push(
                json!({"la": la, "function": function, "gpio": null, "level": null, "pull": null}),
            );
        }
    }
    json!({"pins": pins})
}
