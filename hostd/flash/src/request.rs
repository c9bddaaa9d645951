//! What to do, and what was done.

use std::time::Duration;

use crate::image::{Extent, Image, Skipped};
use crate::probe::SPEED_KHZ_DEFAULT;

/// A job: which firmware goes to which chip, and how.
#[derive(Clone, Debug)]
pub struct Request {
    /// A chip (`STM32F030R8`, `nRF52832_xxAA`, or the beginning of a name) or an OpenOCD target configuration
    /// (`target/stm32f0x.cfg`, `stm32f0x`), which stands for all chips of its series: the target says which
    /// one it is. Case does not matter.
    pub chip: String,
    /// The firmware.
    pub image: Image,
    /// Where plain bytes go; by default, the start of the flash. Other formats have their own addresses.
    pub load_address: Option<u32>,
    /// Read everything back and compare.
    pub verify: bool,
    /// Start the firmware afterwards. Otherwise the core stays halted.
    pub reset: bool,
    /// Continue even if the target is not the requested chip.
    pub force: bool,
    /// Hold the target in reset while connecting, for firmware that reuses the debug pins. Needs the reset
    /// line.
    pub connect_under_reset: bool,
    /// Clock on the debug wire, in kHz; the probe may use the nearest it has.
    pub speed_khz: u32,
}

impl Request {
    /// Programs, verifies and starts `image` on `chip`, with defaults for everything else.
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
    /// The target's own identification, if it has one.
    pub found: Option<String>,
    /// What of the image went where.
    pub programmed: Programmed,
    /// Whether they were read back and matched.
    pub verified: bool,
    /// Whether the firmware was started.
    pub reset: bool,
    /// How long everything took.
    pub duration: Duration,
}

/// What of an image was programmed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Programmed {
    /// Where data went, in address order, neither overlapping nor adjacent.
    pub extents: Vec<Extent>,
    /// What is for other chips.
    pub skipped: Vec<Skipped>,
}

/// Most places that are named one by one.
pub const EXTENTS_NAMED_MAX: usize = 32;

impl Programmed {
    /// Where data went and what was skipped, a line each: [`named`], then [`Self::skips`].
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let mut lines = named(&self.extents);
        lines.extend(self.skips());
        lines
    }

    /// What was skipped, a line for each family.
    pub fn skips(&self) -> impl Iterator<Item = String> {
        let skipped = self.skipped.iter();
        skipped.map(|skipped| format!("skipped: {skipped}, which this chip is not"))
    }

    /// Number of bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.extents.iter().map(|extent| extent.bytes).sum()
    }
}

/// A line for each place, at most [`EXTENTS_NAMED_MAX`], and one that counts the rest.
#[must_use]
pub fn named(extents: &[Extent]) -> Vec<String> {
    let first = extents.iter().take(EXTENTS_NAMED_MAX);
    let mut lines: Vec<String> = first.map(ToString::to_string).collect();
    let rest = extents.get(EXTENTS_NAMED_MAX..).unwrap_or_default();
    if !rest.is_empty() {
        let bytes: u64 = rest.iter().map(|extent| extent.bytes).sum();
        lines.push(format!("{} more places ({bytes} bytes)", rest.len()));
    }
    lines
}
