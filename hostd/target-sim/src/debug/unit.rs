//! The tables through which debuggers find out what a core has, and what differs between the debug units of cores.

use crate::bus::Width;
use crate::cpu::{CATCH_HARD_FAULT, Cpu};

/// Blocks of identification registers: address of the last 48 bytes, part number, class, designer.
#[derive(Clone, Copy, Debug)]
struct Identity {
    page: u32,
    part: u32,
    class: u32,
    designer: Designer,
}

#[derive(Clone, Copy, Debug)]
enum Designer {
    Arm,
    St,
}

const SCS_PAGE: u32 = 0xe000_e000;
const DWT_PAGE: u32 = 0xe000_1000;
const BREAKPOINT_PAGE: u32 = 0xe000_2000;
pub(super) const ROM_TABLE: u32 = 0xe00f_f000;
pub(super) const ROM_TABLE_LAST: u32 = 0xe00f_f03c;
/// Class of the ARM's debug components without a CoreSight class, and of those with one.
const GENERIC: u32 = 0xe;
const CORESIGHT: u32 = 0x9;

const fn arm(page: u32, part: u32, class: u32) -> Identity {
    Identity {
        page,
        part,
        class,
        designer: Designer::Arm,
    }
}

/// What differs between the debug units of cores.
#[derive(Debug)]
pub(crate) struct Unit {
    /// Bits of DEMCR that exist.
    pub(super) monitor_mask: u32,
    /// Breakpoint comparators, and comparators for literals, which are never used.
    pub(super) comparators: u32,
    pub(super) literals: u32,
    identities: &'static [Identity],
    /// Entries of the ROM table: the offsets of the pages, with a bit that says that they are there.
    pub(super) rom_entries: &'static [u32],
    /// Where the chip's device identification is.
    id_code: u32,
    /// The cycle counter, watchpoints and DEMCR can be used by software, too.
    pub(super) is_shared: bool,
}

/// Nothing for software.
pub(crate) const CORTEX_M0: Unit = Unit {
    monitor_mask: 1 << super::DWTENA | CATCH_HARD_FAULT | 1 << super::VC_CORERESET,
    comparators: 4,
    literals: 0,
    identities: &[
        arm(SCS_PAGE, 0x008, GENERIC),
        arm(DWT_PAGE, 0x00a, GENERIC),
        arm(BREAKPOINT_PAGE, 0x00b, GENERIC),
    ],
    rom_entries: &[0xfff0_f003, 0xfff0_2003, 0xfff0_3003, 0],
    id_code: 0x4001_5800,
    is_shared: false,
};

/// With ITM and TPIU; there is no ETM.
pub(crate) const CORTEX_M4: Unit = Unit {
    monitor_mask: 0x010f_07f1,
    comparators: 6,
    literals: 2,
    identities: &[
        arm(SCS_PAGE, 0x00c, GENERIC),
        arm(DWT_PAGE, 0x002, GENERIC),
        arm(BREAKPOINT_PAGE, 0x003, GENERIC),
        arm(0xe000_0000, 0x001, GENERIC),
        arm(0xe004_0000, 0x9a1, CORESIGHT),
    ],
    rom_entries: &[
        0xfff0_f003,
        0xfff0_2003,
        0xfff0_3003,
        0xfff0_1003,
        0xfff4_1003,
        0xfff4_2002,
        0,
    ],
    id_code: 0xe004_2000,
    is_shared: true,
};

impl Unit {
    /// Peripheral and component identification at the ends of the pages.
    pub(super) fn identification<C: Cpu + ?Sized>(
        &self,
        core: &mut C,
        address: u32,
    ) -> Option<u32> {
        let page = address & !0xfff;
        let identity = if page == ROM_TABLE {
            // The table has the chip's own identity: the device number of its IDCODE.
            let id_code = core.load(self.id_code, Width::Word).unwrap_or(0);
            Identity {
                page,
                part: id_code & 0xfff,
                class: 1,
                designer: Designer::St,
            }
        } else {
            let mut identities = self.identities.iter();
            *identities.find(|identity| identity.page == page)?
        };
        // JEP106: continuation count and identity code.
        let (bank, code) = match identity.designer {
            Designer::Arm => (4, 0x3b),
            Designer::St => (0, 0x20),
        };
        Some(match address & 0xfff {
            0xfd0 => bank,
            0xfe0 => identity.part & 0xff,
            0xfe4 => (code & 0xf) << 4 | identity.part >> 8,
            0xfe8 => 8 | code >> 4,
            0xfd4 | 0xfd8 | 0xfdc | 0xfec => 0,
            0xff0 => 0x0d,
            0xff4 => identity.class << 4,
            0xff8 => 0x05,
            0xffc => 0xb1,
            _ => return None,
        })
    }
}
