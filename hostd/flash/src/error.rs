//! Why a job failed, each in a sentence for the user.

use std::error::Error;

use crate::image::ImageError;
use crate::link::LinkError;
use crate::progress::Phase;

/// What the library below said.
pub type Cause = Box<dyn Error + Send + Sync>;

/// Why the firmware is not on the chip, or may not be.
#[derive(Debug, thiserror::Error)]
pub enum FlashError {
    /// The request names a chip that is not known.
    #[error("`{asked}` is no supported chip{}", proposal(.nearest))]
    UnsupportedChip {
        /// What was asked for.
        asked: String,
        /// The most similar names, best first.
        nearest: Vec<String>,
    },
    /// The request could mean several chips and the target does not say which it is.
    #[error("`{asked}` can mean several chips ({}); name one", .names.join(", "))]
    AmbiguousChip {
        /// What was asked for.
        asked: String,
        /// Some of what it can mean.
        names: Vec<String>,
    },
    /// The image cannot be placed.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// The image has data where the chip has no memory to program.
    #[error(
        "the firmware has {bytes} bytes at {address:#010x}, which is outside the memory of {chip}"
    )]
    OutsideMemory {
        /// The first address of data that has no place.
        address: u32,
        /// How much data from there on has no place.
        bytes: u64,
        /// The chip.
        chip: String,
    },
    /// Nothing answers on the debug wires.
    #[error("no target answers on the debug wires; check its power, SWCLK, SWDIO and ground")]
    NoTarget,
    /// The target stopped answering.
    #[error("the target stopped answering while {phase}; check its power and the debug wires")]
    TargetLost {
        /// What was being done.
        phase: Phase,
    },
    /// The target is another chip.
    #[error("the target is {found}, not {asked}")]
    WrongTarget {
        /// What was asked for.
        asked: String,
        /// What it is, by its identification.
        found: String,
    },
    /// The chip is protected from debuggers.
    #[error(
        "the target ({chip}) is locked: it is protected from debuggers and must be mass erased first"
    )]
    Locked {
        /// The chip.
        chip: String,
    },
    /// The target answers, but no debug session could be opened.
    #[error("failed to start a debug session with {chip}")]
    Attach {
        /// The chip.
        chip: String,
        /// Why.
        #[source]
        source: Cause,
    },
    /// Erasing failed.
    #[error("failed to erase the flash{}", at(.address))]
    Erase {
        /// The sector, when it is known.
        address: Option<u64>,
        /// Why.
        #[source]
        source: Cause,
    },
    /// Programming failed.
    #[error("failed to program the flash{}", at(.address))]
    Program {
        /// The page, when it is known.
        address: Option<u64>,
        /// Why.
        #[source]
        source: Cause,
    },
    /// The flash does not hold what was programmed.
    #[error("verification failed{}: the flash does not have what was programmed", at(.address))]
    Verify {
        /// The first address that differs, if it could be found.
        address: Option<u64>,
    },
    /// The flash could not be read back.
    #[error("failed to read the flash for verification")]
    ReadBack {
        /// Why.
        #[source]
        source: Cause,
    },
    /// The firmware is on the chip, but the chip could not be reset.
    #[error("the firmware is programmed, but the target could not be reset")]
    Reset {
        /// Why.
        #[source]
        source: Cause,
    },
    /// The probe answers nonsense or refuses something that every probe can do.
    #[error("the debug probe does not work as it should")]
    Probe {
        /// Why.
        #[source]
        source: Cause,
    },
    /// The connection to the probe is lost.
    #[error("lost the connection to the debug probe while {phase}")]
    LinkLost {
        /// What was being done.
        phase: Phase,
        /// Why.
        #[source]
        source: Cause,
    },
    /// Somebody cancelled the job.
    #[error("cancelled while {phase}; {}", left(*.phase))]
    Cancelled {
        /// What was being done.
        phase: Phase,
    },
    /// The job took too long.
    #[error("ran out of time while {phase}; {}", left(*.phase))]
    Deadline {
        /// What was being done.
        phase: Phase,
    },
}

impl FlashError {
    /// Whether the target could not be reached, as opposed to could not be programmed.
    #[must_use]
    pub fn target_unreachable(&self) -> bool {
        matches!(
            self,
            Self::NoTarget | Self::TargetLost { .. } | Self::Attach { .. }
        )
    }

    /// Whether nothing has been written to the target.
    #[must_use]
    pub fn is_target_untouched(&self) -> bool {
        match self {
            Self::UnsupportedChip { .. }
            | Self::AmbiguousChip { .. }
            | Self::Image(_)
            | Self::OutsideMemory { .. }
            | Self::NoTarget
            | Self::WrongTarget { .. }
            | Self::Locked { .. }
            | Self::Attach { .. }
            | Self::Probe { .. } => true,
            Self::TargetLost { phase }
            | Self::LinkLost { phase, .. }
            | Self::Cancelled { phase }
            | Self::Deadline { phase } => *phase == Phase::Connecting,
            Self::Erase { .. }
            | Self::Program { .. }
            | Self::Verify { .. }
            | Self::ReadBack { .. }
            | Self::Reset { .. } => false,
        }
    }

    pub(crate) fn from_link(failure: LinkError, phase: Phase) -> Self {
        match failure {
            LinkError::Cancelled => Self::Cancelled { phase },
            LinkError::Deadline => Self::Deadline { phase },
            LinkError::Lost(source) => Self::LinkLost { phase, source },
        }
    }
}

fn proposal(names: &[String]) -> String {
    match names {
        [] => String::new(),
        names => format!("; the nearest are {}", names.join(", ")),
    }
}

/// What a job that ended in this phase has left on the chip.
fn left(phase: Phase) -> &'static str {
    match phase {
        Phase::Connecting => "the chip is untouched",
        Phase::Erasing | Phase::Programming => "the firmware on the chip is incomplete",
        Phase::Verifying => "the firmware on the chip is not verified",
        Phase::Resetting => "the firmware is on the chip but may not run",
    }
}

fn at(address: &Option<u64>) -> String {
    address.map_or_else(String::new, |address| format!(" at {address:#010x}"))
}
