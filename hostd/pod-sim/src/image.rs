//! The two gateware images: one has the control loop, the other replays from deep memory.

use serde_json::{Value, json};

use super::args::Args;
use super::pins::Owner;
use super::refuse::Refuse;
use super::status::GATEWARE;
use super::world::World;

/// Functions that an image switch ends; GPIO, UART and GPS go on.
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

/// A gateware image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Image {
    ControlLoop,
    DeepReplay,
}

impl Image {
    fn number(self) -> u8 {
        match self {
            Self::ControlLoop => 0,
            Self::DeepReplay => 1,
        }
    }

    /// Feature bits of the reply.
    fn features(self) -> u8 {
        match self {
            Self::ControlLoop => 0x01,
            Self::DeepReplay => 0x02,
        }
    }

    /// The capability that comes and goes with it.
    pub(crate) fn capability(self) -> &'static str {
        match self {
            Self::ControlLoop => "dac_control_loop",
            Self::DeepReplay => "dac_deep_replay",
        }
    }
}

/// `fpga_image`: loads an image; what runs in the old one ends.
pub(crate) fn fpga_image(world: &mut World, args: &Args<'_>, now_ns: u64) -> Result<Value, Refuse> {
    let image: u8 = args
        .uint("image", 0..=1)?
        .ok_or(Refuse::Missing { field: "image" })?;
    if world.capture_is_held() {
        return Err(Refuse::Busy);
    }
    world.dac.stop(now_ns);
    world.park(now_ns);
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
