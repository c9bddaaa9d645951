//! Faults: what traps there are, which exception handles each, and what the fault status registers say.

use super::exceptions::{BUS_FAULT, DEBUG_MONITOR, HARD_FAULT, MEMORY_FAULT, USAGE_FAULT};
use super::{Core, Stop};
use crate::bus::Bus;

/// Why an instruction did not end normally.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trap {
    Undefined,
    /// The Thumb bit is clear.
    InvalidState,
    /// The floating-point unit is off, or there is no such coprocessor.
    NoCoprocessor,
    /// An exception return that makes no sense.
    InvalidReturn,
    Unaligned,
    DivisionByZero,
    /// The bus answered an access with an error.
    Bus {
        address: u32,
    },
    /// The bus answered an instruction fetch with an error.
    BusFetch,
    /// An access that the protection unit or the memory map forbids.
    Forbidden {
        address: u32,
    },
    /// An instruction fetch likewise.
    ForbiddenFetch,
    /// Saving the registers of a floating-point context failed.
    LazyBus,
    LazyForbidden,
    Breakpoint,
    Supervisor,
    ResetRequest,
}

/// What an exception frame was doing when an access failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    Stacking,
    Unstacking,
}

/// Bits of the configurable fault status register.
const IACCVIOL: u32 = 1;
const DACCVIOL: u32 = 1 << 1;
const MUNSTKERR: u32 = 1 << 3;
const MSTKERR: u32 = 1 << 4;
const MLSPERR: u32 = 1 << 5;
const MMARVALID: u32 = 1 << 7;
const IBUSERR: u32 = 1 << 8;
const PRECISERR: u32 = 1 << 9;
const UNSTKERR: u32 = 1 << 11;
const STKERR: u32 = 1 << 12;
const LSPERR: u32 = 1 << 13;
const BFARVALID: u32 = 1 << 15;
const UNDEFINSTR: u32 = 1 << 16;
const INVSTATE: u32 = 1 << 17;
const INVPC: u32 = 1 << 18;
const NOCP: u32 = 1 << 19;
const UNALIGNED: u32 = 1 << 24;
const DIVBYZERO: u32 = 1 << 25;

/// Bits of the hard fault status register.
pub(super) const VECTTBL: u32 = 1 << 1;
pub(super) const FORCED: u32 = 1 << 30;
pub(super) const DEBUGEVT: u32 = 1 << 31;

/// DEMCR's bits that stop the core at a fault.
const VC_MMERR: u32 = 1 << 4;
const VC_NOCPERR: u32 = 1 << 5;
const VC_CHKERR: u32 = 1 << 6;
const VC_STATERR: u32 = 1 << 7;
const VC_BUSERR: u32 = 1 << 8;
pub(super) const VC_INTERR: u32 = 1 << 9;

/// The fault status and address registers.
#[derive(Debug, Default)]
pub(super) struct Faults {
    pub(super) configurable: u32,
    pub(super) hard: u32,
    pub(super) memory_address: u32,
    pub(super) bus_address: u32,
}

impl Faults {
    /// Records a trap. Returns the exception that handles it and the DEMCR bit that catches it.
    fn record(&mut self, trap: Trap) -> Option<(u32, u32)> {
        let (number, bits, catch) = match trap {
            Trap::Undefined => (USAGE_FAULT, UNDEFINSTR, VC_STATERR),
            Trap::InvalidState => (USAGE_FAULT, INVSTATE, VC_STATERR),
            Trap::InvalidReturn => (USAGE_FAULT, INVPC, VC_STATERR),
            Trap::NoCoprocessor => (USAGE_FAULT, NOCP, VC_NOCPERR),
            Trap::Unaligned => (USAGE_FAULT, UNALIGNED, VC_CHKERR),
            Trap::DivisionByZero => (USAGE_FAULT, DIVBYZERO, VC_CHKERR),
            Trap::BusFetch => (BUS_FAULT, IBUSERR, VC_BUSERR),
            Trap::Bus { address } => {
                self.bus_address = address;
                (BUS_FAULT, PRECISERR | BFARVALID, VC_BUSERR)
            }
            Trap::ForbiddenFetch => (MEMORY_FAULT, IACCVIOL, VC_MMERR),
            Trap::Forbidden { address } => {
                self.memory_address = address;
                (MEMORY_FAULT, DACCVIOL | MMARVALID, VC_MMERR)
            }
            Trap::LazyBus => (BUS_FAULT, LSPERR, VC_BUSERR),
            Trap::LazyForbidden => (MEMORY_FAULT, MLSPERR, VC_MMERR),
            Trap::Breakpoint | Trap::Supervisor | Trap::ResetRequest => return None,
        };
        self.configurable |= bits;
        Some((number, catch))
    }

    /// Records that a frame could not be written or read. Returns the exception that handles it.
    pub(super) fn record_frame(&mut self, frame: Frame, trap: Trap) -> u32 {
        let is_bus = matches!(trap, Trap::Bus { .. });
        self.configurable |= match (frame, is_bus) {
            (Frame::Stacking, true) => STKERR,
            (Frame::Stacking, false) => MSTKERR,
            (Frame::Unstacking, true) => UNSTKERR,
            (Frame::Unstacking, false) => MUNSTKERR,
        };
        if is_bus { BUS_FAULT } else { MEMORY_FAULT }
    }
}

impl<B: Bus> Core<B> {
    /// Takes the exception that handles a trap, or a HardFault if that one is off or not urgent enough.
    pub(super) fn fault(&mut self, trap: Trap) -> Option<Stop> {
        let Some((number, catch)) = self.faults.record(trap) else {
            if trap == Trap::Breakpoint && self.monitors_debug() {
                return self.take_exception(DEBUG_MONITOR);
            }
            let is_debug = trap == Trap::Breakpoint;
            return self.hard_fault(if is_debug { DEBUGEVT } else { FORCED });
        };
        if self.exceptions.is_enabled(number) && self.can_preempt(number) {
            let stop = self.take_exception(number);
            return stop.or_else(|| self.caught(catch));
        }
        self.hard_fault(FORCED)
    }

    fn monitors_debug(&self) -> bool {
        self.trace.monitors() && self.can_preempt(DEBUG_MONITOR)
    }

    /// A stop, if the debugger wants to catch this.
    pub(super) fn caught(&self, catch: u32) -> Option<Stop> {
        (self.debug.enabled && self.debug.catches & catch != 0).then_some(Stop::VectorCatch)
    }

    /// Takes a HardFault. If it cannot be handled, the core locks up.
    pub(super) fn hard_fault(&mut self, reason: u32) -> Option<Stop> {
        if self.exceptions.is_in_fault() || self.faultmask {
            return Some(self.lock_up());
        }
        self.faults.hard |= reason;
        self.take_exception(HARD_FAULT)
    }
}
