//! Exceptions: which are pending and active, which may interrupt which, entry and return.

use super::{Core, Executed, LR, PC, SP, Sleep, Trap};
use crate::bus::Bus;
use crate::cpu::{CATCH_HARD_FAULT, Stop};
use crate::word::bit;

pub(super) const NMI: u32 = 2;
pub(super) const HARD_FAULT: u32 = 3;
pub(super) const SVCALL: u32 = 11;
pub(super) const PENDSV: u32 = 14;
pub(super) const SYSTICK: u32 = 15;
/// Interrupt n is exception 16 + n.
pub(super) const FIRST_INTERRUPT: u32 = 16;

/// Exceptions that are always enabled.
const SYSTEM: u64 = 0xffff;

/// Execution priority of a thread: below all exceptions, whose priorities are 0 to 3.
const THREAD: i32 = 4;

/// Size of an exception frame: R0 to R3, R12, LR, return address, xPSR.
const FRAME_BYTES: u32 = 32;
/// Bit of the stacked xPSR: the frame was moved down by one word to align it to 8 bytes.
const FRAME_ALIGNED: u32 = 9;

/// Cycles of an exception entry, up to the handler's first instruction, and of a return.
const ENTRY_CYCLES: u64 = 16;

const EXC_RETURN: u32 = 0xffff_fff0;
const TO_HANDLER: u32 = 1;
const TO_THREAD: u32 = 9;
const TO_PROCESS: u32 = 13;

/// System control register bits.
const SLEEP_ON_EXIT: u32 = 1;
const EVENT_ON_PEND: u32 = 4;

/// Sets of exceptions have a bit for each exception number.
#[derive(Debug)]
pub(super) struct Exceptions {
    pub(super) pending: u64,
    pub(super) active: u64,
    /// Enabled interrupts, bit n for interrupt n.
    pub(super) enabled: u32,
    /// Priority bytes by exception number; only their top two bits exist.
    pub(super) priority: [u8; 64],
}

impl Default for Exceptions {
    fn default() -> Self {
        Self {
            pending: 0,
            active: 0,
            enabled: 0,
            priority: [0; 64],
        }
    }
}

/// Members of a set of exceptions.
fn members(mut set: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let number = (set != 0).then(|| set.trailing_zeros())?;
        set &= set - 1;
        Some(number)
    })
}

impl Exceptions {
    /// Lower is more urgent.
    fn urgency(&self, number: u32) -> i32 {
        match number {
            NMI => -2,
            HARD_FAULT => -1,
            _ => i32::from(self.priority[(number & 63) as usize] >> 6),
        }
    }

    /// The priority of the running code, without PRIMASK.
    fn running(&self) -> i32 {
        let urgencies = members(self.active).map(|number| self.urgency(number));
        urgencies.min().unwrap_or(THREAD)
    }

    /// Whether a fault could not be handled now.
    pub(super) fn is_in_fault(&self) -> bool {
        self.running() < 0
    }

    /// The most urgent pending and enabled exception; the lowest number among equals.
    pub(super) fn most_urgent(&self) -> Option<u32> {
        let enabled = u64::from(self.enabled) << FIRST_INTERRUPT | SYSTEM;
        members(self.pending & enabled).min_by_key(|number| self.urgency(*number))
    }
}

impl<B: Bus> Core<B> {
    pub(super) fn pend(&mut self, number: u32) {
        let new = 1 << number & !self.exceptions.pending;
        if new != 0 && bit(self.system_control, EVENT_ON_PEND) {
            self.event = true;
        }
        self.exceptions.pending |= new;
        self.look_up();
    }

    /// Pends the interrupts whose lines are high. A line that stays high pends again after its handler
    /// returns.
    pub(super) fn raise_lines(&mut self, lines: u128) {
        // This core has 32 lines.
        let lines = u64::try_from(lines & 0xffff_ffff).unwrap_or(0) << FIRST_INTERRUPT;
        for number in members(lines & !self.exceptions.active & !self.exceptions.pending) {
            self.pend(number);
        }
    }

    /// Execution priority, with PRIMASK.
    fn priority(&self) -> i32 {
        let running = self.exceptions.running();
        if self.primask {
            running.min(0)
        } else {
            running
        }
    }

    pub(super) fn can_preempt(&self, number: u32) -> bool {
        self.exceptions.urgency(number) < self.priority()
    }

    /// The exception to take before the next instruction.
    pub(super) fn exception_to_take(&self) -> Option<u32> {
        if self.exceptions.pending == 0 {
            return None;
        }
        let number = self.exceptions.most_urgent()?;
        let masked = self.debug.mask_interrupts && number >= PENDSV;
        (!masked && self.can_preempt(number)).then_some(number)
    }

    /// Whether sleep ends: after WFE by an event only, after WFI by a pending exception, as if PRIMASK were
    /// clear.
    pub(super) fn is_woken(&mut self) -> bool {
        if self.sleep == Sleep::ForEvent && std::mem::take(&mut self.event) {
            return true;
        }
        let pending = self.exceptions.most_urgent();
        self.sleep == Sleep::ForInterrupt
            && pending.is_some_and(|n| self.exceptions.urgency(n) < self.exceptions.running())
    }

    /// Takes a fault. If it cannot be handled, the core locks up.
    pub(super) fn hard_fault(&mut self) -> Option<Stop> {
        if self.exceptions.is_in_fault() {
            return Some(self.lock_up());
        }
        self.take_exception(HARD_FAULT)
    }

    /// Enters the handler of an exception. An error on entry becomes a HardFault; an error on entry to the
    /// HardFault becomes lockup.
    pub(super) fn take_exception(&mut self, number: u32) -> Option<Stop> {
        let is_last_resort = self.exceptions.urgency(number) < 0;
        let stacked = self.stack_frame();
        let vector = self.load_word(number * 4);
        let (number, vector) = match (stacked, vector) {
            (Ok(()), Ok(vector)) => (number, vector),
            _ if is_last_resort => return Some(self.lock_up()),
            _ => match self.load_word(HARD_FAULT * 4) {
                Ok(vector) => (HARD_FAULT, vector),
                Err(_) => return Some(self.lock_up()),
            },
        };
        let returns_to = match (self.ipsr != 0, self.uses_process_stack) {
            (true, _) => TO_HANDLER,
            (false, true) => TO_PROCESS,
            (false, false) => TO_THREAD,
        };
        self.select_process_stack(false);
        self.r[LR] = EXC_RETURN | returns_to;
        self.r[PC] = vector & !1;
        self.thumb = vector & 1 == 1;
        self.ipsr = number;
        self.exceptions.active |= 1 << number;
        self.exceptions.pending &= !(1 << number);
        self.sleep = Sleep::Awake;
        self.event = true;
        self.cycles += ENTRY_CYCLES;
        self.look_up();
        (number == HARD_FAULT && self.debug.enabled && self.debug.catches & CATCH_HARD_FAULT != 0)
            .then_some(Stop::VectorCatch)
    }

    fn stack_frame(&mut self) -> Executed {
        let is_moved = self.r[SP] & 4 != 0;
        let frame = self.r[SP].wrapping_sub(FRAME_BYTES) & !7;
        let status = self.xpsr() | u32::from(is_moved) << FRAME_ALIGNED;
        let [r0, r1, r2, r3, .., r12, _, lr, pc] = self.r;
        self.r[SP] = frame;
        let mut address = frame;
        for word in [r0, r1, r2, r3, r12, lr, pc, status] {
            self.store_word(address, word)?;
            address = address.wrapping_add(4);
        }
        Ok(())
    }

    /// Returns from an exception: a branch to an EXC_RETURN value in handler mode.
    pub(super) fn exception_return(&mut self, value: u32) -> Executed {
        let leaving = 1u64 << self.ipsr;
        let returns_to = value & 0xf;
        let to_thread = returns_to != TO_HANDLER;
        let is_nested = self.exceptions.active & !leaving != 0;
        if ![TO_HANDLER, TO_THREAD, TO_PROCESS].contains(&returns_to) || to_thread == is_nested {
            return Err(Trap::Fault);
        }
        self.exceptions.active &= !leaving;
        self.select_process_stack(returns_to == TO_PROCESS);
        let frame = self.r[SP];
        let mut words = [0; 8];
        let mut address = frame;
        for word in &mut words {
            *word = self.load_word(address)?;
            address = address.wrapping_add(4);
        }
        let [r0, r1, r2, r3, r12, lr, pc, status] = words;
        self.r[..4].copy_from_slice(&[r0, r1, r2, r3]);
        self.r[12] = r12;
        self.r[LR] = lr;
        self.r[PC] = pc & !1;
        let is_moved = u32::from(bit(status, FRAME_ALIGNED)) << 2;
        self.r[SP] = frame.wrapping_add(FRAME_BYTES) | is_moved;
        self.set_xpsr(status);
        self.event = true;
        self.cycles += ENTRY_CYCLES;
        self.look_up();
        if to_thread != (self.ipsr == 0) {
            return Err(Trap::Fault);
        }
        if to_thread && bit(self.system_control, SLEEP_ON_EXIT) {
            self.sleep = Sleep::ForInterrupt;
        }
        Ok(())
    }
}
