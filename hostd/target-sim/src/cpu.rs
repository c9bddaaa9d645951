//! What the debug unit and the target need from a processor core, whichever it
//! is.

use crate::bus::{BusFault, Width};

/// DEMCR.VC_HARDERR: stop when a HardFault is taken.
pub(crate) const CATCH_HARD_FAULT: u32 = 1 << 10;

/// Why a core stopped running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The given cycle was reached.
    Deadline,
    /// The chip has output that the outside must handle before the core goes on.
    Output,
    /// A BKPT instruction with debugging enabled, or a breakpoint comparator. The program counter points to
    /// the instruction, which has not been executed.
    Breakpoint,
    /// An access or an instruction address matched a watchpoint; the instruction has been executed.
    Watchpoint,
    /// A fault was taken that the debugger wants to catch. The next instruction is the first one of its
    /// handler.
    VectorCatch,
    /// Software requested a system reset.
    ResetRequest,
    /// The core is locked up: only a reset or a debugger can end that.
    Lockup,
}

/// Whether a core waits, and for what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Sleep {
    #[default]
    Awake,
    /// WFI, or sleep on exit.
    ForInterrupt,
    /// WFE.
    ForEvent,
}

/// Settings that a debugger makes in the core.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DebugControls {
    /// DHCSR.C_DEBUGEN: BKPT halts instead of faulting.
    pub enabled: bool,
    /// DHCSR.C_MASKINTS: PendSV, SysTick and interrupts are not taken.
    pub mask_interrupts: bool,
    /// The bits of DEMCR that name the faults at whose entry the core stops.
    pub catches: u32,
    /// Instruction addresses of the breakpoint comparators.
    pub breakpoints: Vec<u32>,
    /// DEMCR.DWTENA, for cores that do not have that register themselves: watchpoints are compared.
    pub watches: bool,
}

/// A processor core with the chip around it.
pub trait Cpu {
    /// Runs until the cycle count reaches `until` or something else stops it. A sleeping core skips the
    /// time in which nothing can wake it.
    fn run(&mut self, until: u64) -> Stop;

    /// Executes one instruction, or takes one exception. Wakes a sleeping core.
    fn step(&mut self) -> Stop;

    /// Lets time pass up to cycle `until` while the core does nothing, as in debug state.
    fn idle(&mut self, until: u64);

    /// The cycle count.
    fn cycles(&self) -> u64;

    /// Cycles spent asleep.
    fn slept(&self) -> u64;

    /// The cycle at which the core will next do something by itself if nothing comes from outside: now if
    /// it is awake, [`NEVER`](crate::bus::NEVER) if only the outside can wake it.
    fn next_activity(&self) -> u64;

    /// Forgets what resets leave alone: what a debugger has set up for tracing.
    fn power_up(&mut self);

    /// Returns to the state after reset. Reads the reset vector. The chip around the core is not changed.
    fn reset(&mut self);

    /// Reads a register by its number in DCRSR.REGSEL. Unknown numbers read as zero.
    fn register(&self, number: u8) -> u32;

    /// Writes a register by its number in DCRSR.REGSEL. Unknown numbers are ignored.
    fn set_register(&mut self, number: u8, value: u32);

    /// Whether the core is asleep (WFI, WFE).
    fn is_sleeping(&self) -> bool;

    /// Whether the core is locked up.
    fn is_locked_up(&self) -> bool;

    /// Ends lockup and sleep, as entering debug state does.
    fn wake(&mut self);

    /// A debugger's read: like the core's own, but narrow widths also work in the core's private region.
    ///
    /// # Errors
    /// If the bus answers with an error or the address is not aligned to the width.
    fn load(&mut self, address: u32, width: Width) -> Result<u32, BusFault>;

    /// A debugger's write. In the core's private region only whole words can be written.
    ///
    /// # Errors
    /// If the bus answers with an error, the address is not aligned to the width, or the width is not
    /// allowed.
    fn store(&mut self, address: u32, width: Width, value: u32) -> Result<(), BusFault>;

    /// Applies the debugger's settings to the core.
    fn set_debug(&mut self, controls: DebugControls);
}
