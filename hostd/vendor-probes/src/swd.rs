//! Accesses as bits on the serial wire (ADIv5, chapter B4), for probes that take bits: many in one transfer to the probe.
//!
//! ```text
//!   host    | start ap rw a2 a3 par stop park | trn |     | (write: trn, data, parity)
//!   target  |                                 |     | ack | (read: data, parity, trn)
//! ```
//!
//! All bits of a transfer are there before the first acknowledgement is. So that a target keeps in step when it is busy,
//! its detection of overruns is switched on together with its power: data then follow every acknowledgement, and what
//! comes after a refused access is refused. The debugger does not see that.

mod plan;
mod wire;

use std::time::{Duration, Instant};

use crate::port::{ABORT, Access, Accessed, Ack, DPIDR, Port, PortError};
use plan::Step;
pub(crate) use wire::{Bit, Wire};
use wire::{STEP_BITS, answer, bits};

/// Most accesses in one transfer to the probe.
const STEPS_MAX: usize = 256;

/// Longest time that one transfer to the probe may take on the wire.
const TRANSFER_MS_MAX: u32 = 200;

/// Longest time for a target that is busy. Another try is begun only before.
const BUSY_MAX: Duration = Duration::from_secs(3);

/// Clocks after the last access, with which a target finishes it.
const IDLE_AFTER: usize = 8;

/// Ones that reset the line, and zeros behind them.
const RESET_ONES: usize = 56;
const RESET_ZEROS: usize = 8;

/// The clock that is asked for before a debugger has set one.
const CLOCK_HZ_START: u32 = 1_000_000;

/// `ORUNDETECT` in `CTRL/STAT`, what it sets there, and the bit of `ABORT` that clears that.
const DETECTS_OVERRUN: u32 = 1;
const OVERRUN: u32 = 1 << 1;
const CLEARS_OVERRUN: u32 = 1 << 4;

/// A port on a wire.
#[derive(Debug)]
pub(crate) struct Swd<W> {
    wire: W,
    clock_hz: u32,
    idle_cycles: u8,
    wait_retries: u16,
    /// What was written to `SELECT`.
    select: u32,
    /// Whether the target detects overruns, and whether the debugger wants that.
    detects_overrun: bool,
    wants_overrun: bool,
}

impl<W: Wire> Swd<W> {
    pub(crate) fn new(wire: W) -> Self {
        Self {
            wire,
            clock_hz: CLOCK_HZ_START,
            idle_cycles: 0,
            wait_retries: 0,
            select: 0,
            detects_overrun: false,
            wants_overrun: false,
        }
    }

    #[cfg(test)]
    pub(crate) fn wire(&mut self) -> &mut W {
        &mut self.wire
    }

    /// How many steps fit into one transfer to the probe.
    fn steps_max(&self) -> usize {
        if !self.detects_overrun {
            return 1;
        }
        let step = u32::try_from(STEP_BITS).unwrap_or(u32::MAX) + u32::from(self.idle_cycles);
        let fit = self.clock_hz / 1000 * TRANSFER_MS_MAX / step;
        usize::try_from(fit)
            .unwrap_or(STEPS_MAX)
            .clamp(1, STEPS_MAX)
    }

    /// Puts steps on the wire, all of them; how each was answered.
    fn put(&mut self, steps: &[Step]) -> Result<Vec<Result<u32, Ack>>, PortError> {
        let mut out = Vec::new();
        let mut starts = Vec::new();
        for step in steps {
            starts.push(out.len());
            out.extend(bits(self.dressed(step)));
            out.extend(vec![Bit::Out(false); usize::from(self.idle_cycles)]);
        }
        out.extend([Bit::Out(false); IDLE_AFTER]);
        let heard = self.clock(&out)?;
        let answers = starts.iter().zip(steps);
        let answers =
            answers.map(|(start, step)| answer(&heard[*start..], step.access.is_read, W::LEAD));
        Ok(answers.collect())
    }

    fn clock(&mut self, bits: &[Bit]) -> Result<Vec<bool>, PortError> {
        let heard = self.wire.clock(bits)?;
        if heard.len() == bits.len() {
            return Ok(heard);
        }
        let told = format!("it clocked {} bits of {}", heard.len(), bits.len());
        Err(PortError::Lost(told))
    }

    /// An access as it goes onto the wire.
    fn dressed(&self, step: &Step) -> Access {
        let mut access = step.access;
        if step.is_control && !access.is_read {
            access.data |= DETECTS_OVERRUN;
        }
        if step.is_abort() && self.detects_overrun {
            access.data |= CLEARS_OVERRUN;
        }
        access
    }

    /// A value as the debugger would have read it.
    fn undressed(&self, step: &Step, value: u32) -> u32 {
        if step.is_control && self.detects_overrun && !self.wants_overrun {
            value & !(DETECTS_OVERRUN | OVERRUN)
        } else {
            value
        }
    }

    /// Learns from a step that was done.
    fn note(&mut self, step: &Step) {
        if step.is_control && !step.access.is_read {
            self.detects_overrun = true;
            self.wants_overrun = step.access.data & DETECTS_OVERRUN != 0;
        }
        if let Some(select) = step.selects() {
            self.select = select;
        }
    }

    /// Gets in step again with a target that refused an access. Whether it can be asked again.
    fn recover(&mut self) -> Result<(), PortError> {
        let access = if self.detects_overrun {
            Access::write_dp(ABORT, CLEARS_OVERRUN)
        } else {
            // It took the data for something else.
            let ones = [Bit::Out(true); RESET_ONES];
            let zeros = [Bit::Out(false); RESET_ZEROS];
            self.clock(&[&ones[..], &zeros].concat())?;
            Access::read_dp(DPIDR)
        };
        // If that is refused, too, the next access tells.
        self.put(&[Step::of(access)]).map(drop)
    }
}

impl<W: Wire> Port for Swd<W> {
    fn connect(&mut self) -> Result<(), PortError> {
        self.wire.connect()
    }

    fn disconnect(&mut self) -> Result<(), PortError> {
        self.wire.disconnect()
    }

    fn set_clock(&mut self, hz: u32) -> Result<(), PortError> {
        self.clock_hz = self.wire.set_clock(hz)?;
        Ok(())
    }

    fn configure(&mut self, idle_cycles: u8, wait_retries: u16) {
        (self.idle_cycles, self.wait_retries) = (idle_cycles, wait_retries);
    }

    fn sequence(&mut self, bits: &[bool]) -> Result<(), PortError> {
        // The target may be another one, or have lost its power.
        (self.select, self.detects_overrun) = (0, false);
        let bits: Vec<Bit> = bits.iter().map(|bit| Bit::Out(*bit)).collect();
        self.clock(&bits).map(drop)
    }

    fn access(&mut self, accesses: &[Access]) -> Result<Accessed, PortError> {
        let steps = plan::steps(accesses, self.select);
        let mut accessed = Accessed {
            done: 0,
            ack: Ack::Ok,
            values: Vec::new(),
        };
        let mut at = 0;
        let (mut retries, since) = (self.wait_retries, Instant::now());
        'transfers: while at < steps.len() {
            let many = plan::together(&steps[at..], self.steps_max());
            let answers = self.put(&steps[at..at + many])?;
            for answer in answers {
                let step = &steps[at];
                match answer {
                    Ok(value) => {
                        if step.brings {
                            accessed.values.push(self.undressed(step, value));
                        }
                        accessed.done += usize::from(step.completes);
                        self.note(step);
                        at += 1;
                    }
                    Err(ack) => {
                        if ack == Ack::Wait || ack == Ack::Fault && !self.detects_overrun {
                            self.recover()?;
                        }
                        if ack == Ack::Wait && retries > 0 && since.elapsed() < BUSY_MAX {
                            retries -= 1;
                            continue 'transfers;
                        }
                        accessed.ack = ack;
                        return Ok(accessed);
                    }
                }
            }
        }
        Ok(accessed)
    }

    fn set_reset(&mut self, is_held: bool) -> Result<(), PortError> {
        self.wire.set_reset(is_held)
    }
}
