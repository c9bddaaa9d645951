//! The debugger's access: the serial wire, and the chip's memory behind it.

use super::Target;
use crate::adi::{Bound, Memory};
use crate::bus::{BusFault, Width};
use crate::chip::ResetCause;
use crate::cpu::Stop;
use crate::debug::{Debug, Request as Wish};
use crate::machine::Machine;
use crate::swd::{Answer, Request, Wire};

impl Target {
    /// One transfer on the debug wire. Nothing answers without power.
    pub fn swd_transfer(&mut self, request: Request, data: u32) -> Answer {
        if !self.is_powered {
            return Answer::Silence;
        }
        self.with_wire(|wire, bound| wire.transfer(bound, request, data))
    }

    /// One clock on the debug wire while the host drives it.
    pub fn swd_clock_out(&mut self, bit: bool) {
        if self.is_powered {
            self.with_wire(|wire, bound| wire.clock_out(bound, bit));
        }
    }

    /// One clock on the debug wire while the host listens. An undriven line is high.
    pub fn swd_clock_in(&mut self) -> bool {
        !self.is_powered || self.with_wire(|wire, bound| wire.clock_in(bound))
    }

    /// Does something on the wire, and then what that made the debug unit request.
    fn with_wire<T>(&mut self, act: impl FnOnce(&mut Wire, &mut Bound<'_>) -> T) -> T {
        let mut memory = DebuggerView {
            core: self.core.as_mut(),
            debug: &mut self.debug,
            wish: Wish::Nothing,
        };
        let mut bound = Bound {
            port: &mut self.port,
            memory: &mut memory,
        };
        let result = act(&mut self.wire, &mut bound);
        match memory.wish {
            Wish::Nothing => {}
            Wish::Reset => self.reset(ResetCause::Software),
            Wish::Step if self.is_held => {}
            Wish::Step => {
                let stop = self.core.step();
                self.debug.note_progress();
                if stop == Stop::ResetRequest {
                    self.reset(ResetCause::Software);
                }
                self.debug.halt_after_step(stop, self.core.as_mut());
            }
        }
        if self.core.chip_mut().takes_option_launch() {
            self.reset(ResetCause::OptionLoader);
        }
        result
    }
}

/// Memory as the access port sees it: the private region through the debug unit, the rest over the bus.
struct DebuggerView<'a> {
    core: &'a mut dyn Machine,
    debug: &'a mut Debug,
    wish: Wish,
}

fn is_private(address: u32) -> bool {
    (0xe000_0000..0xe010_0000).contains(&address)
}

impl Memory for DebuggerView<'_> {
    fn load(&mut self, address: u32, width: Width) -> Result<u32, BusFault> {
        if is_private(address) {
            let word = self.debug.read(self.core, address & !3)? >> ((address & 3) * 8);
            return Ok(match width {
                Width::Byte => word & 0xff,
                Width::Half => word & 0xffff,
                Width::Word => word,
            });
        }
        if self.core.chip().hides(address) {
            return Err(BusFault { address });
        }
        self.core.load(address, width)
    }

    fn store(&mut self, address: u32, width: Width, value: u32) -> Result<(), BusFault> {
        if is_private(address) {
            if width != Width::Word {
                return Err(BusFault { address });
            }
            self.wish = self.debug.write(self.core, address, value)?;
            return Ok(());
        }
        if self.core.chip().hides(address) {
            return Err(BusFault { address });
        }
        self.core.store(address, width, value)
    }

    fn is_busy(&mut self) -> bool {
        self.core.chip().bus_busy_until() > self.core.cycles()
    }
}
