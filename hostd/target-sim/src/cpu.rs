//! What the debug unit and the target need of a processor core, so that a larger one can take the place of
//! the ARMv6-M.

use crate::bus::{BusFault, Width};

/// Why a core stopped running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The given cycle is reached.
    Deadline,
    /// Something left the chip; the outside has to see it before the core goes on.
    Output,
    /// A BKPT instruction with debugging enabled, or a breakpoint comparator. The program counter stands
    /// at the instruction, which has not been executed.
    Breakpoint,
    /// A fault was taken that the debugger wants to catch. The handler's first instruction is next.
    VectorCatch,
    /// Software asked for a system reset.
    ResetRequest,
    /// The core is locked up: nothing but a reset or a debugger gets it out.
    Lockup,
}

/// What a debugger sets in the core.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DebugControls {
    /// DHCSR.C_DEBUGEN: BKPT halts instead of faulting.
    pub enabled: bool,
    /// DHCSR.C_MASKINTS: PendSV, SysTick and interrupts are not taken.
    pub mask_interrupts: bool,
    /// DEMCR.VC_HARDERR: stop when a HardFault is taken.
    pub catch_hard_fault: bool,
    /// Instruction addresses of the breakpoint comparators.
    pub breakpoints: Vec<u32>,
}

/// A processor core with the chip around it.
pub trait Cpu {
    /// Runs until the cycle count reaches `until` or something else stops it. A sleeping core jumps over
    /// the time in which nothing can wake it.
    fn run(&mut self, until: u64) -> Stop;

    /// Executes one instruction, or takes one exception. A sleeping core is woken.
    fn step(&mut self) -> Stop;

    /// Lets time pass up to cycle `until` with the core standing still, as in debug state.
    fn idle(&mut self, until: u64);

    /// The cycle count.
    fn cycles(&self) -> u64;

    /// Cycles spent asleep.
    fn slept(&self) -> u64;

    /// The cycle at which the core will next do something by itself if nothing comes from outside: now
    /// when it is awake, [`NEVER`](crate::bus::NEVER) when only the outside can wake it.
    fn next_activity(&self) -> u64;

    /// Back to the state after reset. Reads the reset vector. The chip around is not touched.
    fn reset(&mut self);

    /// Reads a register by its number in DCRSR.REGSEL. Unknown numbers read as zero.
    fn register(&self, number: u8) -> u32;

    /// Writes a register by its number in DCRSR.REGSEL. Unknown numbers are ignored.
    fn set_register(&mut self, number: u8, value: u32);

    /// Whether the core sleeps (WFI, WFE).
    fn is_sleeping(&self) -> bool;

    /// Whether the core is locked up.
    fn is_locked_up(&self) -> bool;

    /// Ends lockup and sleep, as entering debug state does.
    fn wake(&mut self);

    /// A debugger's read: like the core's own, but at any alignment of a narrow width in the core's
    /// private region.
    ///
    /// # Errors
    /// When the bus answers with an error or the address is not aligned to the width.
    fn load(&mut self, address: u32, width: Width) -> Result<u32, BusFault>;

    /// A debugger's write.
    ///
    /// # Errors
    /// When the bus answers with an error or the address is not aligned to the width.
    fn store(&mut self, address: u32, width: Width, value: u32) -> Result<(), BusFault>;

    /// Sets what the debugger wants of the core.
    fn set_debug(&mut self, controls: DebugControls);
}
