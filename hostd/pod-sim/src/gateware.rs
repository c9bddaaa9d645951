//! The gateware: which image is loaded, the self-test of the deep memory, and the restart that
//! recovers a hung memory.

use serde_json::{Value, json};
use tokio::time::Duration;

use super::args::Args;
use super::image::{GATEWARE, Image};
use super::pins::Owner;
use super::refuse::Refuse;
use super::world::World;

/// Number of words that a self-test writes and reads.
const PING_WORDS: std::ops::RangeInclusive<i64> = 4..=256;
const DEFAULT_PING_WORDS: u16 = 256;

/// Time from the reply of `psram_recover` to the restart.
pub(crate) const RECOVER_DELAY: Duration = Duration::from_millis(400);

/// Functions that an image switch ends; GPIO, UART and GPS continue.
const RELEASED: [Owner; 10] = [
    Owner::Step,
    Owner::StepDir,
    Owner::I2cSda,
    Owner::I2cScl,
    Owner::SpiSck,
    Owner::SpiMosi,
    Owner::SpiMiso,
    Owner::SpiCs,
    Owner::SwdClk,
    Owner::SwdDio,
];

/// `fpga_image`: loads an image; whatever runs in the old one ends.
pub(crate) fn fpga_image(world: &mut World, args: &Args<'_>, now_ns: u64) -> Result<Value, Refuse> {
    let image: u8 = args
        .uint("image", 0..=1)?
        .ok_or(Refuse::Missing { field: "image" })?;
    if world.capture_is_held() {
        return Err(Refuse::Busy);
    }
    world.converters.dac.stop(now_ns);
    world.converters.park(now_ns);
    world.digital.pins.free(&RELEASED, now_ns);
    world.digital.spi.end(now_ns);
    world.digital.sensor.end();
    world.image = match image {
        0 => Image::ControlLoop,
        _ => Image::DeepReplay,
    };
    Ok(json!({"image": world.image.number(), "version": GATEWARE,
        "features": world.image.features()}))
}

/// `psram_ping`: the simulated memory has no bad words.
pub(crate) fn ping(world: &World, args: &Args<'_>) -> Result<Value, Refuse> {
    let count = args
        .uint::<u16>("count", PING_WORDS)?
        .unwrap_or(DEFAULT_PING_WORDS);
    if world.capture_is_held() {
        return Err(Refuse::Busy);
    }
    Ok(json!({"pass": true, "count": count, "first_bad": -1}))
}

/// The reply of `psram_recover`; the restart follows.
pub(crate) fn recover() -> Value {
    json!({"recover": "rebooting"})
}
