//! What is to be done, and what was done.

use std::time::Duration;

use crate::image::Image;
use crate::probe::SPEED_KHZ_DEFAULT;

/// A job: which firmware goes to which chip, and how.
#[derive(Clone, Debug)]
pub struct Request {
    /// A chip (`STM32F030R8`, `nRF52832_xxAA`, also the beginning of a name) or an OpenOCD target
    /// configuration (`target/stm32f0x.cfg`, `stm32f0x`), which stands for all chips of its series: which one
    /// it is, the target says. Upper and lower case are the same.
    pub chip: String,
    /// The firmware.
    pub image: Image,
    /// Where plain bytes go; without it, to the start of the flash. Other formats have addresses of their own.
    pub load_address: Option<u32>,
    /// Read everything back and compare.
    pub verify: bool,
    /// Start the firmware afterwards. Otherwise the core stays halted.
    pub reset: bool,
    /// Go on when the target is not the chip that was asked for.
    pub force: bool,
    /// Hold the target in reset while the connection is made, for firmware that takes the debug pins. Needs
    /// the reset line.
    pub connect_under_reset: bool,
    /// Clock on the debug wire, in kHz; the probe may take the nearest it has.
    pub speed_khz: u32,
}

impl Request {
    /// Programs, verifies and starts `image` on `chip`, with nothing else asked for.
    #[must_use]
    pub fn new(chip: impl Into<String>, image: Image) -> Self {
        Self {
            chip: chip.into(),
            image,
            load_address: None,
            verify: true,
            reset: true,
            force: false,
            connect_under_reset: false,
            speed_khz: SPEED_KHZ_DEFAULT,
        }
    }
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The chip that it was programmed as.
    pub chip: String,
    /// What the target says that it is, if it says anything.
    pub found: Option<String>,
    /// How many bytes of the image were programmed.
    pub bytes: u64,
    /// Whether they were read back and are right.
    pub verified: bool,
    /// Whether the firmware was started.
    pub reset: bool,
    /// How long everything took.
    pub duration: Duration,
}
