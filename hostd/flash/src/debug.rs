//! A session with a target whose core is looked at, halted and stepped: what a debugger needs.

use std::error::Error;
use std::ops::Range;
use std::time::Duration;

use probe_rs::flashing::{DownloadOptions, FlashProgress};
use probe_rs::{Core, MemoryInterface, RegisterId, Session};

use crate::chips::Catalog;
use crate::error::FlashError;
use crate::job::connect::{self, Wanted};
use crate::job::of_target;
use crate::link::{DapLink, Line, Memory};
use crate::place;
use crate::probe::SPEED_KHZ_DEFAULT;
use crate::progress::Phase;
use crate::stop::Stop;

mod watch;

use watch::Watched;
pub use watch::{Access, Watchpoint};

/// Time for a core to halt.
const HALT_WAIT: Duration = Duration::from_millis(500);

/// Which target is wanted, and how it is reached.
#[derive(Clone, Debug)]
pub struct Wish {
    /// A chip or a series, as in [`Request`](crate::Request).
    pub chip: String,
    /// Continue even if the target is not the requested chip.
    pub force: bool,
    /// Hold the target in reset while connecting.
    pub connect_under_reset: bool,
    /// Clock on the debug wire, in kHz.
    pub speed_khz: u32,
}

impl Wish {
    /// A session with `chip`, with defaults for everything else.
    #[must_use]
    pub fn new(chip: impl Into<String>) -> Self {
        Self {
            chip: chip.into(),
            force: false,
            connect_under_reset: false,
            speed_khz: SPEED_KHZ_DEFAULT,
        }
    }
}

/// Why something was not done.
#[derive(Clone, Debug, thiserror::Error)]
pub enum DebugFailure {
    /// The target refuses, and may do the next thing.
    #[error("{0}")]
    Refused(String),
    /// The target, the probe or the link to it is lost.
    #[error("{0}")]
    Lost(String),
}

/// A debug session with the first core of a target. Calls block.
pub struct Debugger {
    session: Session,
    memory: Memory,
    chip: String,
    flash: Vec<(Range<u64>, u64)>,
    /// How many watchpoints the core can have, once that was asked.
    watchpoints: Option<usize>,
    watched: Vec<Watched>,
}

impl std::fmt::Debug for Debugger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Debugger")
            .field("chip", &self.chip)
            .finish_non_exhaustive()
    }
}

impl Debugger {
    /// Identifies the target and starts a session with it; the core is left as it is. The link is dropped with the
    /// session.
    ///
    /// # Errors
    /// [`FlashError`].
    pub fn attach(link: impl DapLink, wish: &Wish, stop: &Stop) -> Result<Self, FlashError> {
        let line = Line::new(Box::new(link), stop.clone());
        let memory = line.memory().clone();
        let wanted = Wanted {
            chip: &wish.chip,
            force: wish.force,
            connect_under_reset: wish.connect_under_reset,
            speed_khz: wish.speed_khz,
        };
        let connected = connect::connect(&Catalog::load(), line, wanted);
        let connected = match memory.take_failure() {
            Some(failure) => Err(FlashError::from_link(failure, Phase::Connecting)),
            None => connected,
        };
        let connected = connected.map_err(|error| of_target(error, &memory, Phase::Connecting))?;
        Ok(Self {
            flash: place::flash(connected.session.target()),
            session: connected.session,
            chip: connected.chip,
            watchpoints: None,
            watched: Vec::new(),
            memory,
        })
    }

    /// The chip that the target is taken for.
    #[must_use]
    pub fn chip(&self) -> &str {
        &self.chip
    }

    /// The flash that can be programmed, in ascending order: addresses, and how many bytes are erased together.
    #[must_use]
    pub fn flash(&self) -> &[(Range<u64>, u64)] {
        &self.flash
    }

    /// Halts the core.
    ///
    /// # Errors
    /// [`DebugFailure`], as all of these.
    pub fn halt(&mut self) -> Result<(), DebugFailure> {
        self.with(|core| core.halt(HALT_WAIT).map(drop))
    }

    /// Lets the core run, past a breakpoint where it stands.
    ///
    /// # Errors
    /// [`DebugFailure`].
    pub fn run(&mut self) -> Result<(), DebugFailure> {
        if self.watched.is_empty() {
            return self.with(|core| core.run());
        }
        self.run_watched()
    }

    /// Executes one instruction.
    ///
    /// # Errors
    /// [`DebugFailure`].
    pub fn step(&mut self) -> Result<(), DebugFailure> {
        self.with(|core| core.step().map(drop))
    }

    /// Whether the core is halted.
    ///
    /// # Errors
    /// [`DebugFailure`].
    pub fn is_halted(&mut self) -> Result<bool, DebugFailure> {
        self.with(|core| core.core_halted())
    }

    /// Resets the core, and halts it before its first instruction if `halt`.
    ///
    /// # Errors
    /// [`DebugFailure`].
    pub fn reset(&mut self, halt: bool) -> Result<(), DebugFailure> {
        self.with(|core| match halt {
            true => core.reset_and_halt(HALT_WAIT).map(drop),
            false => core.reset(),
        })
    }

    /// Whether the core has a floating point unit.
    ///
    /// # Errors
    /// [`DebugFailure`].
    pub fn has_fpu(&mut self) -> Result<bool, DebugFailure> {
        self.with(|core| core.fpu_support())
    }

    /// A register by its number in the core's debug unit: 0 to 15, 16 xPSR, 17 MSP, 18 PSP, 0x21 FPSCR, 0x40 and up S0
    /// to S31 where there is a floating point unit.
    ///
    /// # Errors
    /// [`DebugFailure`].
    pub fn register(&mut self, number: u8) -> Result<u32, DebugFailure> {
        self.with(|core| core.read_core_reg(RegisterId(u16::from(number))))
    }

    /// # Errors
    /// [`DebugFailure`].
    pub fn set_register(&mut self, number: u8, value: u32) -> Result<(), DebugFailure> {
        self.with(|core| core.write_core_reg(RegisterId(u16::from(number)), value))
    }

    /// # Errors
    /// [`DebugFailure`].
    pub fn read(&mut self, address: u32, into: &mut [u8]) -> Result<(), DebugFailure> {
        self.with(|core| core.read(u64::from(address), into))
    }

    /// # Errors
    /// [`DebugFailure`].
    pub fn write(&mut self, address: u32, bytes: &[u8]) -> Result<(), DebugFailure> {
        self.with(|core| {
            core.write(u64::from(address), bytes)?;
            core.flush()
        })
    }

    /// # Errors
    /// [`DebugFailure`]; refused when no comparator is left.
    pub fn set_breakpoint(&mut self, address: u32) -> Result<(), DebugFailure> {
        self.with(|core| core.set_hw_breakpoint(u64::from(address)))
    }

    /// # Errors
    /// [`DebugFailure`].
    pub fn clear_breakpoint(&mut self, address: u32) -> Result<(), DebugFailure> {
        self.with(|core| core.clear_hw_breakpoint(u64::from(address)))
    }

    /// Erases the sectors of these bytes, programs and verifies them, and halts the core as after a reset.
    ///
    /// # Errors
    /// [`DebugFailure`].
    pub fn program(&mut self, segments: &[(u32, Vec<u8>)]) -> Result<(), DebugFailure> {
        let mut loader = self.session.target().flash_loader();
        let added = segments
            .iter()
            .try_for_each(|(address, bytes)| loader.add_data(u64::from(*address), bytes));
        added.map_err(|error| self.failed(&error))?;
        let mut options = DownloadOptions::default();
        options.verify = true;
        options.progress = FlashProgress::empty();
        // What programs the flash uses memory, too.
        self.rest_watchpoints(true)?;
        let committed = loader.commit(&mut self.session, options);
        let committed = committed.map_err(|error| self.failed(&error));
        self.rest_watchpoints(false)?;
        committed?;
        self.reset(true)
    }

    fn with<T>(
        &mut self,
        act: impl FnOnce(&mut Core<'_>) -> Result<T, probe_rs::Error>,
    ) -> Result<T, DebugFailure> {
        let done = self.session.core(0).and_then(|mut core| act(&mut core));
        done.map_err(|error| self.failed(&error))
    }

    /// The library's errors do not tell a dead link from a refusal.
    fn failed(&self, error: &dyn Error) -> DebugFailure {
        if let Some(failure) = self.memory.take_failure() {
            return DebugFailure::Lost(chain(&failure));
        }
        if self.memory.is_target_silent() {
            let sentence = "the target stopped answering; check its power and the debug wires";
            return DebugFailure::Lost(sentence.to_owned());
        }
        DebugFailure::Refused(chain(error))
    }
}

/// An error with its causes.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text = format!("{text}: {cause}");
        next = cause.source();
    }
    text
}
