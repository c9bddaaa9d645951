//! An ARMv6-M core like the Cortex-M0: the whole instruction set, exceptions with priorities, SysTick,
//! sleep, and the cycle counts of a Cortex-M0 with a single-cycle multiplier.
//!
//! Instructions run in bursts up to a horizon: the next cycle at which anything other than an instruction
//! can happen. Anything that may change it (an access to a peripheral, a change of PRIMASK, an exception
//! return) moves the horizon closer, so only one number has to be checked per instruction.

mod control_space;
mod exceptions;
mod memory;
mod narrow;
mod registers;

mod transfer;
mod watching;
mod wide;

#[cfg(test)]
mod tests;

use crate::bus::{Bus, BusFault, NEVER, Width};
use crate::cpu::{Cpu, DebugControls, Sleep, Stop};
use crate::systick::SysTick;
use exceptions::Exceptions;
use watching::Watching;

const SP: usize = 13;
const LR: usize = 14;
const PC: usize = 15;

/// Value of the program counter during lockup.
const LOCKUP_ADDRESS: u32 = 0xffff_fffe;

/// SysTick's calibration for 1 ms with a reference clock of 6 MHz, as set by ST.
const CALIBRATION: u32 = 0x4000_0000 | 6000;

/// Why an instruction did not end normally.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trap {
    /// Undefined instruction, bus error, unaligned access or wrong instruction set.
    Fault,
    Breakpoint,
    Supervisor,
    ResetRequest,
}

type Executed = Result<(), Trap>;

/// The core, with the chip around it as `bus`.
#[derive(Debug)]
pub struct Core<B> {
    /// R13 is the stack pointer in use.
    r: [u32; 16],
    /// The stack pointer not in use.
    other_sp: u32,
    uses_process_stack: bool,
    negative: bool,
    zero: bool,
    carry: bool,
    overflow: bool,
    thumb: bool,
    /// Number of the exception being handled, 0 in thread mode.
    ipsr: u32,
    primask: bool,
    exceptions: Exceptions,
    systick: SysTick,
    system_control: u32,
    sleep: Sleep,
    /// The event register of WFE.
    event: bool,
    locked_up: bool,
    cycles: u64,
    slept: u64,
    horizon: u64,
    debug: DebugControls,
    watching: Watching,
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
            negative: false,
            zero: false,
            carry: false,
            overflow: false,
            thumb: false,
            ipsr: 0,
            primask: false,
            exceptions: Exceptions::default(),
            systick: SysTick::new(CALIBRATION),
            system_control: 0,
            sleep: Sleep::Awake,
            event: false,
            locked_up: false,
            cycles: 0,
            slept: 0,
            horizon: 0,
            debug: DebugControls::default(),
            watching: Watching::default(),
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
            if CHECKED {
                if self.debug.breakpoints.contains(&self.r[PC]) {
                    return Some(Stop::Breakpoint);
                }
                if self.watching.is_on {
                    self.watch_fetch(self.r[PC]);
                }
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
        match trap {
            Trap::ResetRequest => Some(Stop::ResetRequest),
            Trap::Breakpoint if self.debug.enabled => {
                self.r[PC] = at;
                Some(Stop::Breakpoint)
            }
            Trap::Supervisor if self.can_preempt(exceptions::SVCALL) => {
                self.take_exception(exceptions::SVCALL)
            }
            Trap::Breakpoint | Trap::Supervisor | Trap::Fault => {
                self.r[PC] = at;
                self.hard_fault()
            }
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
}

impl<B: Bus> Cpu for Core<B> {
    fn run(&mut self, until: u64) -> Stop {
        loop {
            self.gather();
            if self.bus.has_output() {
                return Stop::Output;
            }
            if self.watching.takes_match() {
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
                let stop = if self.debug.breakpoints.is_empty() && !self.watching.is_on {
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
            (false, None) => {
                if self.watching.is_on {
                    self.watch_fetch(self.r[PC]);
                }
                self.instruction()
            }
        };
        self.sleep = Sleep::Awake;
        if self.watching.takes_match() {
            return stop.unwrap_or(Stop::Watchpoint);
        }
        stop.unwrap_or(Stop::Deadline)
    }

    fn idle(&mut self, until: u64) {
        if self.cycles < until {
            self.systick.postpone(until - self.cycles);
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
        self.watching = Watching::default();
    }

    fn reset(&mut self) {
        self.r = [0; 16];
        self.r[LR] = u32::MAX;
        self.other_sp = 0;
        self.uses_process_stack = false;
        self.ipsr = 0;
        self.primask = false;
        self.exceptions = Exceptions::default();
        self.systick = SysTick::new(CALIBRATION);
        self.system_control = 0;
        self.sleep = Sleep::Awake;
        self.event = false;
        self.locked_up = false;
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
        self.update_watching();
        self.look_up();
    }
}
