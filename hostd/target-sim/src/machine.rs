//! A core with the chip that it is made for, whichever they are.

use crate::adi::AccessPort;
use crate::chip::{Family, Part, Silicon};
use crate::cpu::Cpu;
use crate::debug::Unit;
use crate::stm32f0::Stm32f0;
use crate::stm32f4::Stm32f4;
use crate::{adi, armv6m, armv7m, debug};

/// What a target does with its core and its chip.
pub(crate) trait Machine: Cpu + std::fmt::Debug + Send + Sync {
    fn chip(&self) -> &dyn Silicon;
    fn chip_mut(&mut self) -> &mut dyn Silicon;
    /// The debug unit in the core.
    fn debug_unit(&self) -> &'static Unit;
    /// The way that a debugger takes to the core.
    fn access_port(&self) -> &'static AccessPort;
}

impl Machine for armv6m::Core<Stm32f0> {
    fn chip(&self) -> &dyn Silicon {
        &self.bus
    }

    fn chip_mut(&mut self) -> &mut dyn Silicon {
        &mut self.bus
    }

    fn debug_unit(&self) -> &'static Unit {
        &debug::CORTEX_M0
    }

    fn access_port(&self) -> &'static AccessPort {
        &adi::CORTEX_M0
    }
}

impl Machine for armv7m::Core<Stm32f4> {
    fn chip(&self) -> &dyn Silicon {
        &self.bus
    }

    fn chip_mut(&mut self) -> &mut dyn Silicon {
        &mut self.bus
    }

    fn debug_unit(&self) -> &'static Unit {
        &debug::CORTEX_M4
    }

    fn access_port(&self) -> &'static AccessPort {
        &adi::CORTEX_M4
    }
}

/// A new part.
pub(crate) fn new(part: Part) -> Box<dyn Machine> {
    match part.family {
        Family::Stm32f0 => Box::new(armv6m::Core::new(Stm32f0::new(part))),
        Family::Stm32f4 => Box::new(armv7m::Core::new(Stm32f4::new(part))),
    }
}
