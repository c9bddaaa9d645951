//! An ARMv7E-M core like the Cortex-M4 r0p1 with its floating-point unit: Thumb-2 with IT blocks, the DSP
//! extension, single precision, configurable faults, priority groups, lazy stacking, a memory protection
//! unit with eight regions, bit-banding, and the trace registers that tools expect.
//!
//! Instructions are decoded once. What was decoded is kept by the instruction itself, not by its address, so
//! that programs may change themselves and nothing ever has to be forgotten. Bursts and horizons are those of
//! the [ARMv6-M core](crate::armv6m), with which this one shares arithmetic and SysTick, but not its
//! instructions: there the sixteen-bit ones do not depend on an IT block and are fast without decoding.
//!
//! Every bus error is precise; there is no write buffer.

mod arithmetic;
mod control_space;
mod decoded;
mod exceptions;
mod execute;
mod faults;
mod float;
mod floating;
mod memory;
mod multiply;
mod narrow;
mod operation;
mod parallel;
mod protection;
mod registers;
mod system;
mod trace;
mod transfer;
mod wide;

#[cfg(test)]
mod tests;

use crate::bus::{Bus, BusFault, NEVER, Width};
use crate::cpu::{Cpu, DebugControls, Sleep, Stop};
use crate::systick::SysTick;
use decoded::Decoded;
use exceptions::Exceptions;
use faults::{Faults, Trap};
use floating::Fpu;
use protection::Protection;
use system::SystemControl;
use trace::Trace;

const SP: usize = 13;
const LR: usize = 14;
const PC: usize = 15;

/// Value of the program counter during lockup.
const LOCKUP_ADDRESS: u32 = 0xffff_fffe;

/// SysTick's calibration in the STM32F4: 1 ms with an eighth of 168 MHz, less one; not exact.
const CALIBRATION: u32 = 0x4000_493e;

type Executed = Result<(), Trap>;

/// The core, with the chip around it as `bus`.
#[derive(Debug)]
pub struct Core<B> {
    /// R13 is the stack pointer in use.
    r: [u32; 16],
    /// The stack pointer not in use.
    other_sp: u32,
    uses_process_stack: bool,
    /// CONTROL.nPRIV: threads are unprivileged.
    is_unprivileged: bool,
    negative: bool,
    zero: bool,
    carry: bool,
    overflow: bool,
    /// APSR.Q.
    saturated: bool,
    /// APSR.GE, four bits.
    greater: u8,
    thumb: bool,
    /// ITSTATE of the next instruction.
    block: u8,
    /// This instruction is in an IT block, and ITSTATE was this before it.
    in_block: Option<u8>,
    /// Number of the exception being handled, 0 in thread mode.
    ipsr: u32,
    primask: bool,
    faultmask: bool,
    basepri: u8,
    exceptions: Exceptions,
    faults: Faults,
    systick: SysTick,
    system: SystemControl,
    protection: Protection,
    fpu: Fpu,
    trace: Trace,
    /// No access has to be checked: neither the protection unit nor a watchpoint is on.
    is_plain: bool,
    /// Address that an exclusive store may write.
    monitor: Option<u32>,
    sleep: Sleep,
    /// The event register of WFE.
    event: bool,
    locked_up: bool,
    cycles: u64,
    slept: u64,
    horizon: u64,
    decoded: Decoded,
    debug: DebugControls,
    /// The chip around the core.
    pub bus: B,
}

impl<B: Bus> Core<B> {
    /// A core on `bus`, as after reset.
    pub fn new(bus: B) -> Self {
        let mut core = Self {
            r: [0; 16],
            other_sp: 0,
            uses_process_stack: false,
            is_unprivileged: false,
            negative: false,
            zero: false,
            carry: false,
            overflow: false,
            saturated: false,
            greater: 0,
            thumb: false,
            block: 0,
            in_block: None,
            ipsr: 0,
            primask: false,
            faultmask: false,
            basepri: 0,
            exceptions: Exceptions::default(),
            faults: Faults::default(),
            systick: SysTick::new(CALIBRATION),
            system: SystemControl::default(),
            protection: Protection::default(),
            fpu: Fpu::default(),
            trace: Trace::default(),
            is_plain: true,
            monitor: None,
            sleep: Sleep::Awake,
            event: false,
            locked_up: false,
            cycles: 0,
            slept: 0,
            horizon: 0,
            decoded: Decoded::new(),
            debug: DebugControls::default(),
            bus,
        };
        core.reset();
        core
    }

    /// Ends the burst after this instruction, so that the change takes effect.
    fn look_up(&mut self) {
        self.horizon = 0;
    }

    /// Collects what happened around the core until now.
    fn gather(&mut self) {
        self.bus.advance(self.cycles);
        if self.systick.advance(self.cycles) {
            self.pend(exceptions::SYSTICK);
        }
        let lines = self.bus.interrupts();
        self.raise_lines(lines);
    }

    /// The next cycle at which something other than an instruction can happen.
    fn next_event(&self) -> u64 {
        self.bus.next_event().min(self.systick.next_event())
    }

    fn lock_up(&mut self) -> Stop {
        if !self.exceptions.is_in_fault() {
            self.exceptions.active |= 1 << exceptions::HARD_FAULT;
            self.ipsr = exceptions::HARD_FAULT;
        }
        self.locked_up = true;
        self.r[PC] = LOCKUP_ADDRESS;
        Stop::Lockup
    }

    /// Runs instructions until the horizon.
    fn burst<const CHECKED: bool>(&mut self) -> Option<Stop> {
        while self.cycles < self.horizon {
            if CHECKED && self.debug.breakpoints.contains(&self.r[PC]) {
                return Some(Stop::Breakpoint);
            }
            if let Some(stop) = self.instruction() {
                return Some(stop);
            }
        }
        None
    }

    /// Executes one instruction and enters the exception that it may have caused.
    #[inline]
    fn instruction(&mut self) -> Option<Stop> {
        let at = self.r[PC];
        match self.execute() {
            Ok(()) => None,
            Err(trap) => self.handle(trap, at),
        }
    }

    #[cold]
    fn handle(&mut self, trap: Trap, at: u32) -> Option<Stop> {
        // Even an instruction that could not be fetched takes time, so that a fault that repeats forever
        // cannot stop the clock.
        self.cycles += 1;
        self.look_up();
        let block_before = self.in_block.take();
        match trap {
            Trap::ResetRequest => return Some(Stop::ResetRequest),
            Trap::Supervisor if self.can_preempt(exceptions::SVCALL) => {
                return self.take_exception(exceptions::SVCALL);
            }
            _ => {}
        }
        // The instruction may be executed again.
        self.r[PC] = at;
        if let Some(before) = block_before {
            self.block = before;
        }
        match trap {
            Trap::Breakpoint if self.debug.enabled => Some(Stop::Breakpoint),
            trap => self.fault(trap),
        }
    }

    /// Takes the most urgent exception that may be taken now. Wakes the core if one could be taken with
    /// PRIMASK clear. Returns true if an exception was taken.
    fn service(&mut self) -> (bool, Option<Stop>) {
        if let Some(number) = self.exception_to_take() {
            return (true, self.take_exception(number));
        }
        if self.sleep != Sleep::Awake && self.is_woken() {
            self.sleep = Sleep::Awake;
        }
        (false, None)
    }

    fn is_privileged(&self) -> bool {
        self.ipsr != 0 || !self.is_unprivileged
    }
}

impl<B: Bus> Cpu for Core<B> {
    fn run(&mut self, until: u64) -> Stop {
        loop {
            self.gather();
            if self.bus.has_output() {
                return Stop::Output;
            }
            if self.trace.takes_match() {
                return Stop::Watchpoint;
            }
            if self.cycles >= until {
                return Stop::Deadline;
            }
            if self.locked_up {
                self.idle(until);
                return Stop::Lockup;
            }
            match self.service() {
                (_, Some(stop)) => return stop,
                (true, None) => continue,
                (false, None) => {}
            }
            self.horizon = until.min(self.next_event());
            let stalled = self.bus.stalled_until(self.r[PC]);
            if self.sleep != Sleep::Awake {
                let woken_at = self.cycles.max(self.horizon);
                self.slept += woken_at - self.cycles;
                self.cycles = woken_at;
            } else if self.cycles < stalled {
                self.cycles = stalled.min(self.horizon);
            } else {
                let stop = if self.debug.breakpoints.is_empty() {
                    self.burst::<false>()
                } else {
                    self.burst::<true>()
                };
                if let Some(stop) = stop {
                    return stop;
                }
            }
        }
    }

    fn step(&mut self) -> Stop {
        self.gather();
        self.sleep = Sleep::Awake;
        let stop = match self.service() {
            (_, Some(stop)) => Some(stop),
            (true, None) => None,
            (false, None) => self.instruction(),
        };
        self.sleep = Sleep::Awake;
        self.trace.takes_match();
        stop.unwrap_or(Stop::Deadline)
    }

    fn idle(&mut self, until: u64) {
        if self.cycles < until {
            self.systick.postpone(until - self.cycles);
            self.trace.postpone(until - self.cycles);
            self.cycles = until;
            self.bus.advance(until);
        }
    }

    fn cycles(&self) -> u64 {
        self.cycles
    }

    fn slept(&self) -> u64 {
        self.slept
    }

    fn next_activity(&self) -> u64 {
        if self.locked_up {
            NEVER
        } else if self.sleep == Sleep::Awake {
            self.cycles.max(self.bus.stalled_until(self.r[PC]))
        } else {
            self.next_event().max(self.cycles)
        }
    }

    fn power_up(&mut self) {
        self.trace = Trace::default();
        self.update_checks();
    }

    fn reset(&mut self) {
        self.r = [0; 16];
        self.r[LR] = u32::MAX;
        self.other_sp = 0;
        self.uses_process_stack = false;
        self.is_unprivileged = false;
        self.block = 0;
        self.in_block = None;
        self.ipsr = 0;
        self.primask = false;
        self.faultmask = false;
        self.basepri = 0;
        self.exceptions = Exceptions::default();
        self.faults = Faults::default();
        self.systick = SysTick::new(CALIBRATION);
        self.system = SystemControl::default();
        self.protection = Protection::default();
        self.fpu = Fpu::default();
        self.monitor = None;
        self.sleep = Sleep::Awake;
        self.event = false;
        self.locked_up = false;
        self.update_checks();
        // If the table cannot be read, these addresses cannot be executed either.
        let word = |bus: &mut B, now, address| bus.load(now, address, Width::Word).unwrap_or(0);
        self.r[SP] = word(&mut self.bus, self.cycles, 0) & !3;
        let vector = word(&mut self.bus, self.cycles, 4);
        self.r[PC] = vector & !1;
        self.thumb = vector & 1 == 1;
        self.look_up();
    }

    fn register(&self, number: u8) -> u32 {
        self.debug_register(number)
    }

    fn set_register(&mut self, number: u8, value: u32) {
        self.set_debug_register(number, value);
    }

    fn is_sleeping(&self) -> bool {
        self.sleep != Sleep::Awake
    }

    fn is_locked_up(&self) -> bool {
        self.locked_up
    }

    fn wake(&mut self) {
        self.sleep = Sleep::Awake;
        self.locked_up = false;
    }

    fn load(&mut self, address: u32, width: Width) -> Result<u32, BusFault> {
        self.debugger_load(address, width)
    }

    fn store(&mut self, address: u32, width: Width, value: u32) -> Result<(), BusFault> {
        self.debugger_store(address, width, value)
    }

    fn set_debug(&mut self, controls: DebugControls) {
        self.debug = controls;
        self.update_checks();
        self.look_up();
    }
}
