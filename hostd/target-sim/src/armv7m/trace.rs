//! Data watchpoints, the cycle counter, and the trace registers that tools set up: nothing is traced.

use super::protection::Purpose;
use crate::bus::Width;
use crate::watchpoints::{Use, Watchpoints};
use crate::word::{bit, low_word};

pub(super) const ITM: u32 = 0xe000_0000;
pub(super) const DWT: u32 = 0xe000_1000;
pub(super) const TPIU: u32 = 0xe004_0000;
pub(super) const BLOCK: u32 = 0x1000;

const COMPARATORS: usize = 4;
const COMPARATOR_COUNT: u32 = 4;
/// Bits of DWT_FUNCTION that can be written.
const FUNCTION_BITS: u32 = 0x000f_ffff;
/// DEMCR bits: trace is on, a debug monitor handles breakpoints.
const TRACE_ENABLE: u32 = 24;
const MONITOR_ENABLE: u32 = 16;
const MONITOR_MASK: u32 = 0x010f_07f1;

const CYCLES_ENABLE: u32 = 0;

const LOCK_KEY: u32 = 0xc5ac_ce55;
const LOCK_ACCESS: u32 = 0xfb0;
const LOCK_STATUS: u32 = 0xfb4;
const ITM_TRACE_ENABLE: u32 = 0xe00;
const ITM_PRIVILEGE: u32 = 0xe40;
const ITM_CONTROL: u32 = 0xe80;
/// TPIU: all port sizes up to four pins; the protocols are parallel and two serial ones.
const TPIU_SIZES: u32 = 0xf;
const TPIU_FORMATTER_STATUS: u32 = 8;
const TPIU_DEVICE: u32 = 0xca1;

/// DEMCR as software sees it, DWT, ITM and TPIU.
#[derive(Debug, Default)]
pub(super) struct Trace {
    monitor: u32,
    control: u32,
    /// The core's cycle count less this is the counter's value, if it runs.
    cycles_from: u64,
    /// Its value if it does not.
    cycles: u32,
    watchpoints: Watchpoints<COMPARATORS, FUNCTION_BITS>,
    itm_enables: u32,
    itm_privilege: u32,
    itm_control: u32,
    itm_is_open: bool,
    port_size: u32,
    prescaler: u32,
    protocol: u32,
    formatter: u32,
}

impl Trace {
    pub(super) fn monitor(&self) -> u32 {
        self.monitor
    }

    pub(super) fn set_monitor(&mut self, now: u64, value: u32) {
        self.hold_cycles(now);
        self.monitor = value & MONITOR_MASK;
        self.run_cycles(now);
    }

    /// Whether a debug monitor handles what would otherwise be a HardFault.
    pub(super) fn monitors(&self) -> bool {
        bit(self.monitor, MONITOR_ENABLE)
    }

    fn counts(&self) -> bool {
        bit(self.monitor, TRACE_ENABLE) && bit(self.control, CYCLES_ENABLE)
    }

    fn count(&self, now: u64) -> u32 {
        if self.counts() {
            low_word(now.wrapping_sub(self.cycles_from))
        } else {
            self.cycles
        }
    }

    fn hold_cycles(&mut self, now: u64) {
        self.cycles = self.count(now);
    }

    fn run_cycles(&mut self, now: u64) {
        self.cycles_from = now.wrapping_sub(u64::from(self.cycles));
    }

    /// The counter stops while a debugger halts the core.
    pub(super) fn postpone(&mut self, cycles: u64) {
        self.cycles_from = self.cycles_from.wrapping_add(cycles);
    }

    /// Whether anything is compared.
    pub(super) fn watches(&self) -> bool {
        bit(self.monitor, TRACE_ENABLE) && self.watchpoints.is_in_use()
    }

    /// Whether a comparison has matched since this was asked.
    pub(super) fn takes_match(&mut self) -> bool {
        self.watchpoints.takes_match()
    }

    pub(super) fn matches_fetch(&mut self, address: u32) -> bool {
        bit(self.monitor, TRACE_ENABLE) && self.watchpoints.matches_fetch(address)
    }

    pub(super) fn matches_access(&mut self, address: u32, width: Width, purpose: Purpose) -> bool {
        let access = match purpose {
            Purpose::Read => Use::Read,
            Purpose::Write => Use::Write,
            Purpose::Fetch => return false,
        };
        bit(self.monitor, TRACE_ENABLE) && self.watchpoints.matches_access(address, width, access)
    }

    pub(super) fn read_dwt(&mut self, now: u64, offset: u32, pc: u32) -> u32 {
        match offset {
            0 => COMPARATOR_COUNT << 28 | self.control,
            4 => self.count(now),
            0x1c => pc,
            0x20..0x60 => self.watchpoints.read(offset - 0x20),
            _ => 0,
        }
    }

    pub(super) fn write_dwt(&mut self, now: u64, offset: u32, value: u32) {
        match offset {
            0 => {
                self.hold_cycles(now);
                self.control = value & 0x007f_1fff;
                self.run_cycles(now);
            }
            4 => {
                self.cycles = value;
                self.run_cycles(now);
            }
            0x20..0x60 => self.watchpoints.write(offset - 0x20, value),
            _ => {}
        }
    }

    pub(super) fn read_itm(&self, offset: u32) -> u32 {
        match offset {
            // The stimulus ports always have room.
            0..0x80 => 1,
            ITM_TRACE_ENABLE => self.itm_enables,
            ITM_PRIVILEGE => self.itm_privilege,
            ITM_CONTROL => self.itm_control,
            LOCK_STATUS => 1 | u32::from(!self.itm_is_open) << 1,
            _ => 0,
        }
    }

    pub(super) fn write_itm(&mut self, offset: u32, value: u32) {
        match offset {
            LOCK_ACCESS => self.itm_is_open = value == LOCK_KEY,
            ITM_TRACE_ENABLE if self.itm_is_open => self.itm_enables = value,
            ITM_PRIVILEGE if self.itm_is_open => self.itm_privilege = value & 15,
            ITM_CONTROL if self.itm_is_open => self.itm_control = value & 0x007f_0f1f,
            _ => {}
        }
    }

    pub(super) fn read_tpiu(&self, offset: u32) -> u32 {
        match offset {
            0 => TPIU_SIZES,
            4 => self.port_size.max(1),
            0x10 => self.prescaler,
            0xf0 => self.protocol,
            0x300 => TPIU_FORMATTER_STATUS,
            0x304 => self.formatter,
            0xfc8 => TPIU_DEVICE,
            0xfcc => 0x11,
            _ => 0,
        }
    }

    pub(super) fn write_tpiu(&mut self, offset: u32, value: u32) {
        match offset {
            4 => self.port_size = value & TPIU_SIZES,
            0x10 => self.prescaler = value & 0x1fff,
            0xf0 => self.protocol = value & 3,
            0x304 => self.formatter = value & 0x102,
            _ => {}
        }
    }
}
