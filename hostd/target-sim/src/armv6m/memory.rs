//! The core's memory accesses: alignment, its private region, and the debugger's accesses.

use super::{Core, Executed, Trap};
use crate::bus::{Bus, BusFault, Width};
use crate::watchpoints::Use;

/// Memory from this address on may change by itself, or because it is read.
const FIRST_DEVICE: u32 = 0x4000_0000;
const SRAM: std::ops::Range<u32> = 0x2000_0000..0x4000_0000;
const PRIVATE: std::ops::Range<u32> = 0xe000_0000..0xe010_0000;

impl<B: Bus> Core<B> {
    #[inline]
    pub(super) fn load_at(&mut self, address: u32, width: Width) -> Result<u32, Trap> {
        if !width.is_aligned(address) {
            return Err(Trap::Fault);
        }
        if self.watching.is_on {
            self.watch_access(address, width, Use::Read);
        }
        let loaded = if address < FIRST_DEVICE {
            self.bus.load(self.cycles, address, width)
        } else {
            self.load_device(address, width)
        };
        loaded.map_err(|_| Trap::Fault)
    }

    #[inline]
    pub(super) fn store_at(&mut self, address: u32, width: Width, value: u32) -> Executed {
        if !width.is_aligned(address) {
            return Err(Trap::Fault);
        }
        if self.watching.is_on {
            self.watch_access(address, width, Use::Write);
        }
        if SRAM.contains(&address) {
            let stored = self.bus.store(self.cycles, address, width, value);
            return stored.map_err(|_| Trap::Fault);
        }
        self.store_device(address, width, value)
    }

    pub(super) fn load_word(&mut self, address: u32) -> Result<u32, Trap> {
        self.load_at(address, Width::Word)
    }

    pub(super) fn store_word(&mut self, address: u32, value: u32) -> Executed {
        self.store_at(address, Width::Word, value)
    }

    fn load_device(&mut self, address: u32, width: Width) -> Result<u32, BusFault> {
        self.look_up();
        if !PRIVATE.contains(&address) {
            return self.bus.load(self.cycles, address, width);
        }
        match width {
            Width::Word => Ok(self.read_private(address)),
            Width::Byte | Width::Half => Err(BusFault { address }),
        }
    }

    fn store_device(&mut self, address: u32, width: Width, value: u32) -> Executed {
        self.look_up();
        if !PRIVATE.contains(&address) {
            let stored = self.bus.store(self.cycles, address, width, value);
            return stored.map_err(|_| Trap::Fault);
        }
        match width {
            Width::Word => self.write_private(address, value),
            Width::Byte | Width::Half => Err(Trap::Fault),
        }
    }

    pub(super) fn debugger_load(&mut self, address: u32, width: Width) -> Result<u32, BusFault> {
        if !width.is_aligned(address) {
            return Err(BusFault { address });
        }
        self.gather();
        if PRIVATE.contains(&address) {
            let watching = self.read_watching(address & !3);
            let word = watching.unwrap_or_else(|| self.read_private(address & !3));
            let shifted = word >> ((address & 3) * 8);
            return Ok(match width {
                Width::Byte => shifted & 0xff,
                Width::Half => shifted & 0xffff,
                Width::Word => shifted,
            });
        }
        self.look_up();
        self.bus.load(self.cycles, address, width)
    }

    pub(super) fn debugger_store(
        &mut self,
        address: u32,
        width: Width,
        value: u32,
    ) -> Result<(), BusFault> {
        if !width.is_aligned(address) {
            return Err(BusFault { address });
        }
        self.gather();
        self.look_up();
        if !PRIVATE.contains(&address) {
            return self.bus.store(self.cycles, address, width, value);
        }
        if width != Width::Word {
            return Err(BusFault { address });
        }
        if self.write_watching(address, value) {
            return Ok(());
        }
        // A debugger's reset request goes through the debug unit, so there is none to carry out here.
        let _ = self.write_private(address, value);
        Ok(())
    }
}
