//! The core's memory accesses: alignment, protection, bit-bands, its private region, and the debugger's
//! accesses.

use super::operation::Access;
use super::protection::Purpose;
use super::{Core, Executed, Trap};
use crate::bus::{Bus, BusFault, Width};
use crate::word::{bit, sign_extend};

/// Memory from this address on may change by itself, or because it is read.
const FIRST_DEVICE: u32 = 0x4000_0000;
const SRAM: std::ops::Range<u32> = 0x2000_0000..0x4000_0000;
const PRIVATE: std::ops::Range<u32> = 0xe000_0000..0xe010_0000;
/// Registers of peripherals, below the bit-band that stands for them.
const PERIPHERALS: std::ops::Range<u32> = 0x4000_0000..0x4200_0000;
/// The chip's own registers in the private region.
const EXTERNAL: std::ops::Range<u32> = 0xe004_2000..0xe00f_f000;
/// In these, each word stands for a bit below, 32 MiB before.
const BIT_BANDS: [u32; 2] = [0x2200_0000, 0x4200_0000];
const BIT_BAND_BYTES: u32 = 0x0200_0000;

impl Access {
    #[inline]
    pub(super) const fn width(self) -> Width {
        match self {
            Self::Byte | Self::SignedByte => Width::Byte,
            Self::Half | Self::SignedHalf => Width::Half,
            Self::Word => Width::Word,
        }
    }

    #[inline]
    const fn extend(self, value: u32) -> u32 {
        match self {
            Self::SignedByte => sign_extend(value, 8),
            Self::SignedHalf => sign_extend(value, 16),
            Self::Byte | Self::Half | Self::Word => value,
        }
    }
}

/// The bit that a word in a bit-band stands for: its word, and its place there.
fn banded(address: u32) -> Option<(u32, u32)> {
    let base = BIT_BANDS
        .into_iter()
        .find(|base| address.wrapping_sub(*base) < BIT_BAND_BYTES)?;
    let offset = address - base;
    let byte = base - BIT_BAND_BYTES + offset / 32;
    Some((byte & !3, (byte & 3) * 8 + (offset >> 2 & 7)))
}

impl<B: Bus> Core<B> {
    /// Fetches half of an instruction.
    #[inline]
    pub(super) fn fetch(&mut self, address: u32) -> Result<u32, Trap> {
        if !self.is_plain && !self.permits_fetch(address) {
            return Err(Trap::ForbiddenFetch);
        }
        match self.bus.fetch(self.cycles, address) {
            Ok(half) => Ok(u32::from(half)),
            // Neither devices nor the system hold instructions.
            Err(_) if matches!(address >> 28, 0x4 | 0x5 | 0xa..=0xf) => Err(Trap::ForbiddenFetch),
            Err(_) => Err(Trap::BusFetch),
        }
    }

    #[cold]
    fn permits_fetch(&mut self, address: u32) -> bool {
        if self.trace.matches_fetch(address) {
            self.look_up();
        }
        self.permits(address, Purpose::Fetch, self.is_privileged())
    }

    /// Loads and extends.
    #[inline]
    pub(super) fn load_as(&mut self, access: Access, address: u32) -> Result<u32, Trap> {
        self.load_at(address, access.width())
            .map(|value| access.extend(value))
    }

    #[inline]
    pub(super) fn store_as(&mut self, access: Access, address: u32, value: u32) -> Executed {
        self.store_at(address, access.width(), value)
    }

    #[inline]
    fn load_at(&mut self, address: u32, width: Width) -> Result<u32, Trap> {
        if self.is_plain && width.is_aligned(address) {
            if address < FIRST_DEVICE {
                if let Ok(value) = self.bus.load(self.cycles, address, width) {
                    return Ok(value);
                }
            } else if PERIPHERALS.contains(&address) {
                return self.load_peripheral(address, width);
            }
        }
        self.load_carefully(address, width, self.is_privileged())
    }

    #[inline]
    fn store_at(&mut self, address: u32, width: Width, value: u32) -> Executed {
        if SRAM.contains(&address)
            && self.is_plain
            && width.is_aligned(address)
            && self.bus.store(self.cycles, address, width, value).is_ok()
        {
            return Ok(());
        }
        self.store_carefully(address, width, value, self.is_privileged())
    }

    /// Programs wait by reading a register over and over, so that this must be fast. A read may start
    /// something, which is then due sooner than anything before.
    fn load_peripheral(&mut self, address: u32, width: Width) -> Result<u32, Trap> {
        let loaded = self.bus.load(self.cycles, address, width);
        self.horizon = if self.bus.has_output() {
            0
        } else {
            self.horizon.min(self.bus.next_event())
        };
        loaded.map_err(|BusFault { address }| Trap::Bus { address })
    }

    /// A load that must be aligned.
    pub(super) fn load_word(&mut self, address: u32) -> Result<u32, Trap> {
        if address & 3 != 0 {
            return Err(Trap::Unaligned);
        }
        self.load_at(address, Width::Word)
    }

    /// A store that must be aligned.
    pub(super) fn store_word(&mut self, address: u32, value: u32) -> Executed {
        if address & 3 != 0 {
            return Err(Trap::Unaligned);
        }
        self.store_at(address, Width::Word, value)
    }

    /// A load with the rights of unprivileged code.
    pub(super) fn load_unprivileged(&mut self, access: Access, address: u32) -> Result<u32, Trap> {
        self.load_carefully(address, access.width(), false)
            .map(|value| access.extend(value))
    }

    pub(super) fn store_unprivileged(
        &mut self,
        access: Access,
        address: u32,
        value: u32,
    ) -> Executed {
        self.store_carefully(address, access.width(), value, false)
    }

    /// A vector, which no unit protects.
    pub(super) fn load_unchecked(&mut self, address: u32) -> Result<u32, Trap> {
        self.bus
            .load(self.cycles, address & !3, Width::Word)
            .map_err(|_| Trap::Bus { address })
    }

    /// Checks an access that is not an aligned one to plain memory.
    fn check(
        &mut self,
        address: u32,
        width: Width,
        purpose: Purpose,
        privileged: bool,
    ) -> Executed {
        if !width.is_aligned(address) {
            let is_device = matches!(address >> 28, 0x4 | 0x5 | 0xa..=0xf);
            if is_device || self.system.traps_unaligned() {
                return Err(Trap::Unaligned);
            }
        }
        if PRIVATE.contains(&address) {
            let is_allowed = privileged;
            return if is_allowed {
                Ok(())
            } else {
                Err(Trap::Bus { address })
            };
        }
        let last = address.wrapping_add(width.bytes() - 1);
        for address in [address, last] {
            if !self.permits(address, purpose, privileged) {
                return Err(Trap::Forbidden { address });
            }
        }
        if self.trace.matches_access(address, width, purpose) {
            self.look_up();
        }
        Ok(())
    }

    fn load_carefully(
        &mut self,
        address: u32,
        width: Width,
        privileged: bool,
    ) -> Result<u32, Trap> {
        self.check(address, width, Purpose::Read, privileged)?;
        if address >= FIRST_DEVICE {
            self.look_up();
        }
        let loaded = if width.is_aligned(address) {
            self.load_any(address, width)
        } else {
            (0..width.bytes()).try_fold(0, |value, place| {
                let byte = self.load_any(address.wrapping_add(place), Width::Byte)?;
                Ok(value | byte << (8 * place))
            })
        };
        loaded.map_err(|BusFault { address }| Trap::Bus { address })
    }

    fn store_carefully(
        &mut self,
        address: u32,
        width: Width,
        value: u32,
        privileged: bool,
    ) -> Executed {
        self.check(address, width, Purpose::Write, privileged)?;
        self.look_up();
        if PRIVATE.contains(&address) && !EXTERNAL.contains(&address) {
            return self.write_private(address, width, value);
        }
        let stored = if width.is_aligned(address) {
            self.store_any(address, width, value)
        } else {
            (0..width.bytes()).try_for_each(|place| {
                self.store_any(
                    address.wrapping_add(place),
                    Width::Byte,
                    value >> (8 * place),
                )
            })
        };
        stored.map_err(|BusFault { address }| Trap::Bus { address })
    }

    fn load_any(&mut self, address: u32, width: Width) -> Result<u32, BusFault> {
        if PRIVATE.contains(&address) && !EXTERNAL.contains(&address) {
            return Ok(self.read_private(address, width));
        }
        match banded(address) {
            Some((word, place)) => {
                let word = self.bus.load(self.cycles, word, Width::Word);
                word.map(|word| word >> place & 1)
                    .map_err(|_| BusFault { address })
            }
            None => self.bus.load(self.cycles, address, width),
        }
    }

    fn store_any(&mut self, address: u32, width: Width, value: u32) -> Result<(), BusFault> {
        let Some((word, place)) = banded(address) else {
            return self.bus.store(self.cycles, address, width, value);
        };
        let old = self.bus.load(self.cycles, word, Width::Word);
        let old = old.map_err(|_| BusFault { address })?;
        let new = old & !(1 << place) | u32::from(bit(value, 0)) << place;
        self.bus
            .store(self.cycles, word, Width::Word, new)
            .map_err(|_| BusFault { address })
    }

    pub(super) fn debugger_load(&mut self, address: u32, width: Width) -> Result<u32, BusFault> {
        if !width.is_aligned(address) {
            return Err(BusFault { address });
        }
        self.gather();
        self.look_up();
        self.load_any(address, width)
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
        if PRIVATE.contains(&address) && !EXTERNAL.contains(&address) {
            // A debugger's reset request goes through the debug unit, so there is none to carry out here.
            let _ = self.write_private(address, width, value);
            return Ok(());
        }
        self.store_any(address, width, value)
    }
}
