//! Exceptions: which are pending and active, which may interrupt which, entry and return.

use super::faults::{FORCED, Frame, Trap, VC_INTERR, VECTTBL};
use super::{Core, Executed, LR, PC, SP, Sleep};
use crate::bus::Bus;
use crate::cpu::{CATCH_HARD_FAULT, Stop};
use crate::word::bit;

pub(super) const NMI: u32 = 2;
pub(super) const HARD_FAULT: u32 = 3;
pub(super) const MEMORY_FAULT: u32 = 4;
pub(super) const BUS_FAULT: u32 = 5;
pub(super) const USAGE_FAULT: u32 = 6;
pub(super) const SVCALL: u32 = 11;
pub(super) const DEBUG_MONITOR: u32 = 12;
pub(super) const PENDSV: u32 = 14;
pub(super) const SYSTICK: u32 = 15;
/// Interrupt n is exception 16 + n.
pub(super) const FIRST_INTERRUPT: u32 = 16;
/// Exceptions there are: 97 interrupts.
pub(super) const EXCEPTIONS: u32 = FIRST_INTERRUPT + 97;

/// Exceptions that are always enabled: all of the system's except the three faults that software enables.
const SYSTEM: u128 = 0xff8f;
const INTERRUPTS: u128 = ((1 << EXCEPTIONS) - 1) & !0xffff;

/// Execution priority of a thread: below all exceptions.
const THREAD: i32 = 256;

/// Size of an exception frame: R0 to R3, R12, LR, return address, xPSR.
const FRAME_BYTES: u32 = 32;
/// The same with S0 to S15, FPSCR and a word that is not used.
const LONG_FRAME_BYTES: u32 = 104;
/// Bit of the stacked xPSR: the frame was moved down by one word to align it to 8 bytes.
const FRAME_ALIGNED: u32 = 9;

/// Cycles of an exception entry, up to the handler's first instruction, and of a return.
const ENTRY_CYCLES: u64 = 12;

const EXC_RETURN: u32 = 0xffff_ffe0;
/// Bit of EXC_RETURN: the frame is a short one.
const SHORT_FRAME: u32 = 1 << 4;
const TO_HANDLER: u32 = 1;
const TO_THREAD: u32 = 9;
const TO_PROCESS: u32 = 13;

/// System control register bits.
const SLEEP_ON_EXIT: u32 = 1;
const EVENT_ON_PEND: u32 = 4;

/// Sets of exceptions have a bit for each exception number.
#[derive(Debug)]
pub(super) struct Exceptions {
    pub(super) pending: u128,
    pub(super) active: u128,
    pub(super) enabled: u128,
    /// Priority bytes by exception number; only their top four bits exist.
    pub(super) priority: [u8; 128],
    /// AIRCR.PRIGROUP: this many bits less one are no part of the group.
    pub(super) group: u32,
}

impl Default for Exceptions {
    fn default() -> Self {
        Self {
            pending: 0,
            active: 0,
            enabled: SYSTEM,
            priority: [0; 128],
            group: 0,
        }
    }
}

/// The members of a set, the lowest first.
fn members(mut set: u128) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let number = (set != 0).then(|| set.trailing_zeros())?;
        set &= set - 1;
        Some(number)
    })
}

impl Exceptions {
    /// Lower is more urgent; the subpriority included.
    fn urgency(&self, number: u32) -> i32 {
        match number {
            NMI => -2,
            HARD_FAULT => -1,
            _ => i32::from(self.priority[(number & 127) as usize]),
        }
    }

    /// The part of an urgency that decides what may interrupt what.
    fn grouped(&self, urgency: i32) -> i32 {
        if urgency < 0 {
            urgency
        } else {
            urgency >> (self.group + 1) << (self.group + 1)
        }
    }

    /// The priority of the running code, without what masks exceptions.
    fn running(&self) -> i32 {
        let urgencies = members(self.active).map(|number| self.grouped(self.urgency(number)));
        urgencies.min().unwrap_or(THREAD)
    }

    /// Whether a fault could not be handled now.
    pub(super) fn is_in_fault(&self) -> bool {
        self.active & (1 << NMI | 1 << HARD_FAULT) != 0
    }

    pub(super) fn is_enabled(&self, number: u32) -> bool {
        self.enabled >> number & 1 == 1
    }

    pub(super) fn set_enabled(&mut self, number: u32, enabled: bool) {
        self.enabled = self.enabled & !(1 << number) | u128::from(enabled) << number;
    }

    /// The most urgent pending and enabled exception; the lowest number among equals.
    pub(super) fn most_urgent(&self) -> Option<u32> {
        members(self.pending & self.enabled).min_by_key(|number| self.urgency(*number))
    }

    /// Enables or disables interrupts, never the system's exceptions.
    pub(super) fn enable_interrupts(&mut self, set: u128, enabled: bool) {
        let set = set & INTERRUPTS;
        self.enabled = if enabled {
            self.enabled | set
        } else {
            self.enabled & !set
        };
    }
}

impl<B: Bus> Core<B> {
    pub(super) fn pend(&mut self, number: u32) {
        if number >= EXCEPTIONS {
            return;
        }
        let new = 1 << number & !self.exceptions.pending;
        if new != 0 && bit(self.system.control, EVENT_ON_PEND) {
            self.event = true;
        }
        self.exceptions.pending |= new;
        self.look_up();
    }

    /// Pends the interrupts whose lines are high. A line that stays high pends again after its handler
    /// returns.
    pub(super) fn raise_lines(&mut self, lines: u128) {
        let lines = lines << FIRST_INTERRUPT;
        let new = lines & !self.exceptions.active & !self.exceptions.pending;
        if new != 0 {
            for number in members(new) {
                self.pend(number);
            }
        }
    }

    /// Execution priority, with all that masks exceptions.
    pub(super) fn priority(&self) -> i32 {
        let mut priority = self.exceptions.running();
        if self.basepri != 0 {
            let base = self.exceptions.grouped(i32::from(self.basepri));
            priority = priority.min(base);
        }
        if self.primask {
            priority = priority.min(0);
        }
        if self.faultmask {
            priority = priority.min(-1);
        }
        priority
    }

    pub(super) fn can_preempt(&self, number: u32) -> bool {
        let urgency = self.exceptions.urgency(number);
        self.exceptions.grouped(urgency) < self.priority()
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
        let Some(number) = self.exceptions.most_urgent() else {
            return false;
        };
        let primask = std::mem::take(&mut self.primask);
        let can = self.can_preempt(number);
        self.primask = primask;
        can
    }

    /// Enters the handler of an exception. An error on entry becomes another exception, an error on entry to
    /// the HardFault becomes lockup.
    pub(super) fn take_exception(&mut self, number: u32) -> Option<Stop> {
        let is_last_resort = self.exceptions.urgency(number) < 0;
        let returns_to = match (self.ipsr != 0, self.uses_process_stack) {
            (true, _) => TO_HANDLER,
            (false, true) => TO_PROCESS,
            (false, false) => TO_THREAD,
        };
        let frame = if self.fpu.is_active { 0 } else { SHORT_FRAME };
        let mut number = number;
        let mut catch = 0;
        if let Err(trap) = self.stack_frame() {
            let derived = self.faults.record_frame(Frame::Stacking, trap);
            catch = VC_INTERR;
            let precedes = self.exceptions.urgency(derived) < self.exceptions.urgency(number);
            if self.exceptions.is_enabled(derived) && precedes && self.can_preempt(derived) {
                self.exceptions.pending |= 1 << number;
                number = derived;
            } else if is_last_resort {
                return Some(self.lock_up());
            } else {
                self.faults.hard |= FORCED;
                number = HARD_FAULT;
            }
        }
        let vector = match self.load_vector(number) {
            Ok(vector) => vector,
            Err(_) if is_last_resort || number == HARD_FAULT => return Some(self.lock_up()),
            Err(_) => {
                self.faults.hard |= VECTTBL;
                number = HARD_FAULT;
                catch = VC_INTERR;
                match self.load_vector(HARD_FAULT) {
                    Ok(vector) => vector,
                    Err(_) => return Some(self.lock_up()),
                }
            }
        };
        self.select_process_stack(false);
        self.fpu.is_active = false;
        self.r[LR] = EXC_RETURN | frame | returns_to;
        self.r[PC] = vector & !1;
        self.thumb = vector & 1 == 1;
        self.block = 0;
        self.in_block = None;
        self.ipsr = number;
        self.exceptions.active |= 1 << number;
        self.exceptions.pending &= !(1 << number);
        self.monitor = None;
        self.sleep = Sleep::Awake;
        self.event = true;
        self.cycles += ENTRY_CYCLES;
        self.look_up();
        if number == HARD_FAULT {
            catch |= CATCH_HARD_FAULT;
        }
        self.caught(catch)
    }

    fn load_vector(&mut self, number: u32) -> Result<u32, Trap> {
        let address = self.system.vectors.wrapping_add(number * 4);
        self.load_unchecked(address)
    }

    fn stack_frame(&mut self) -> Executed {
        let is_long = self.fpu.is_active;
        let aligns = is_long || self.system.aligns_frames();
        let is_moved = aligns && self.r[SP] & 4 != 0;
        let bytes = if is_long {
            LONG_FRAME_BYTES
        } else {
            FRAME_BYTES
        };
        let mask = if aligns { !7 } else { !3 };
        let frame = self.r[SP].wrapping_sub(bytes) & mask;
        let status = self.xpsr() | u32::from(is_moved) << FRAME_ALIGNED;
        let [r0, r1, r2, r3, .., r12, _, lr, pc] = self.r;
        self.r[SP] = frame;
        let mut address = frame;
        for word in [r0, r1, r2, r3, r12, lr, pc, status] {
            self.store_word(address, word)?;
            address = address.wrapping_add(4);
        }
        if is_long {
            self.stack_floats(address)?;
        }
        Ok(())
    }

    /// Returns from an exception: a branch to an EXC_RETURN value in handler mode.
    pub(super) fn exception_return(&mut self, value: u32) -> Executed {
        let leaving = 1u128 << self.ipsr;
        let returns_to = value & 0xf;
        let to_thread = returns_to != TO_HANDLER;
        let is_active = self.exceptions.active & leaving != 0;
        let is_nested = self.exceptions.active & !leaving != 0;
        let is_allowed = to_thread != is_nested || to_thread && self.system.allows_nested_threads();
        let is_known = [TO_HANDLER, TO_THREAD, TO_PROCESS].contains(&returns_to);
        if !is_active || !is_known || !is_allowed || value & EXC_RETURN != EXC_RETURN {
            return Err(Trap::InvalidReturn);
        }
        self.exceptions.active &= !leaving;
        if self.ipsr != NMI {
            self.faultmask = false;
        }
        self.select_process_stack(returns_to == TO_PROCESS);
        let is_long = value & SHORT_FRAME == 0;
        // The mode that the frame belongs to decides the rights of its accesses.
        let handler = self.ipsr;
        if to_thread {
            self.ipsr = 0;
        }
        let unstacked = self.unstack_frame(is_long);
        if let Err(trap) = unstacked {
            self.ipsr = handler;
            self.exceptions.active |= leaving;
            self.faults.record_frame(Frame::Unstacking, trap);
            return Err(trap);
        }
        self.monitor = None;
        self.event = true;
        self.cycles += ENTRY_CYCLES;
        self.look_up();
        if to_thread != (self.ipsr == 0) {
            return Err(Trap::InvalidReturn);
        }
        if to_thread && bit(self.system.control, SLEEP_ON_EXIT) {
            self.sleep = Sleep::ForInterrupt;
        }
        Ok(())
    }

    fn unstack_frame(&mut self, is_long: bool) -> Executed {
        let frame = self.r[SP];
        let mut words = [0; 8];
        let mut address = frame;
        for word in &mut words {
            *word = self.load_word(address)?;
            address = address.wrapping_add(4);
        }
        if is_long {
            self.unstack_floats(address)?;
        }
        self.fpu.is_active = is_long;
        let [r0, r1, r2, r3, r12, lr, pc, status] = words;
        self.r[..4].copy_from_slice(&[r0, r1, r2, r3]);
        self.r[12] = r12;
        self.r[LR] = lr;
        self.r[PC] = pc & !1;
        let aligns = is_long || self.system.aligns_frames();
        let is_moved = u32::from(aligns && bit(status, FRAME_ALIGNED)) << 2;
        let bytes = if is_long {
            LONG_FRAME_BYTES
        } else {
            FRAME_BYTES
        };
        self.r[SP] = frame.wrapping_add(bytes) | is_moved;
        self.set_xpsr(status);
        Ok(())
    }
}
