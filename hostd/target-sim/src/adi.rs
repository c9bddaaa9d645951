//! Debug port and access port (ADIv5): power-up handshake, sticky errors, posted reads, and the bridge to
//! the chip's memory with its auto-increment.

use crate::bus::{BusFault, Width};
use crate::swd::{Answer, Registers, Request};
use crate::word::bit;

/// What differs between the debug and access ports of cores.
#[derive(Debug)]
pub(crate) struct AccessPort {
    /// DPIDR: designer ARM, version 1.
    dp_id: u32,
    /// IDR of the AHB-AP.
    ap_id: u32,
    /// The address increments within this many bytes, less one, then wraps.
    wrap: u32,
    /// Whether one transfer of a word can move several narrower data.
    packs: bool,
}

/// Minimal.
pub(crate) const CORTEX_M0: AccessPort = AccessPort {
    dp_id: 0x0bb1_1477,
    ap_id: 0x0477_0021,
    wrap: 0x3ff,
    packs: false,
};
pub(crate) const CORTEX_M4: AccessPort = AccessPort {
    dp_id: 0x2ba0_1477,
    ap_id: 0x2477_0011,
    wrap: 0xfff,
    packs: true,
};

/// Address of the ROM table, and the bits that say it exists.
const AP_BASE: u32 = 0xe00f_f003;

const DP_ABORT: u8 = 0x0;
const DP_CTRL: u8 = 0x4;
const DP_SELECT: u8 = 0x8;
const DP_RDBUFF: u8 = 0xc;

const STICKYERR: u32 = 1 << 5;
const STICKYCMP: u32 = 1 << 4;
const STICKYORUN: u32 = 1 << 1;
const WDATAERR: u32 = 1 << 7;
const POWER_REQUESTS: u32 = 1 << 28 | 1 << 30;
const ORUNDETECT: u32 = 1;
/// The other writable bits: overrun detection and the transaction counter.
const CTRL_MASK: u32 = POWER_REQUESTS | 0x00ff_ff01;

const AP_CSW: u32 = 0x00;
const AP_TAR: u32 = 0x04;
const AP_DRW: u32 = 0x0c;

/// Privileged data access; the access port is enabled.
const CSW_RESET: u32 = 0x0300_0042;
const CSW_WRITABLE: u32 = 0x7f00_0037;
const CSW_ENABLED: u32 = 1 << 6;
/// AddrInc: no increment, by one datum, packed.
const SINGLE: u32 = 1;
const PACKED: u32 = 2;

/// The chip's memory, as the access port accesses it.
pub(crate) trait Memory {
    fn load(&mut self, address: u32, width: Width) -> Result<u32, BusFault>;
    fn store(&mut self, address: u32, width: Width, value: u32) -> Result<(), BusFault>;
    /// Whether the last access still occupies the bus.
    fn is_busy(&mut self) -> bool;
}

/// Debug port with its only access port.
#[derive(Debug)]
pub(crate) struct DebugPort {
    kind: &'static AccessPort,
    control: u32,
    sticky: u32,
    select: u32,
    read_buffer: u32,
    csw: u32,
    tar: u32,
}

impl DebugPort {
    pub(crate) fn new(kind: &'static AccessPort) -> Self {
        Self {
            kind,
            control: 0,
            sticky: 0,
            select: 0,
            read_buffer: 0,
            csw: CSW_RESET,
            tar: 0,
        }
    }
}

/// A debug port with a memory, for one transfer.
pub(crate) struct Bound<'a> {
    pub(crate) port: &'a mut DebugPort,
    pub(crate) memory: &'a mut dyn Memory,
}

impl Registers for Bound<'_> {
    fn transfer(&mut self, request: Request, data: u32) -> Answer {
        self.port.transfer(self.memory, request, data)
    }

    fn refuses(&mut self, request: Request) -> Option<Answer> {
        self.port.refuses(self.memory, request)
    }

    fn detects_overrun(&self) -> bool {
        self.port.control & ORUNDETECT != 0
    }
}

impl DebugPort {
    fn transfer(&mut self, memory: &mut dyn Memory, request: Request, data: u32) -> Answer {
        if let Some(answer) = self.refuses(memory, request) {
            return answer;
        }
        if request.is_ap {
            return self.access(memory, request, data);
        }
        match (request.is_read, request.address) {
            (true, DP_ABORT) => Answer::Ok(self.kind.dp_id),
            (false, DP_ABORT) => {
                self.abort(data);
                Answer::Ok(0)
            }
            (true, DP_CTRL) => Answer::Ok(self.status()),
            (false, DP_CTRL) => {
                if self.select & 15 == 0 {
                    self.control = data & CTRL_MASK;
                }
                Answer::Ok(0)
            }
            (false, DP_SELECT) => {
                self.select = data;
                Answer::Ok(0)
            }
            // RESEND and RDBUFF both return the last result again.
            (true, DP_SELECT | DP_RDBUFF) => Answer::Ok(self.read_buffer),
            _ => Answer::Ok(0),
        }
    }

    /// What a transfer is refused with, before it is carried out. With overrun detection, that is remembered.
    fn refuses(&mut self, memory: &mut dyn Memory, request: Request) -> Option<Answer> {
        let writes_setting = matches!(
            (request.is_read, request.address),
            (false, DP_CTRL | DP_SELECT)
        );
        let refused = match (request.is_ap, request.is_read, request.address) {
            (false, _, DP_ABORT) | (false, true, DP_CTRL) => None,
            // Everything else waits until the error is cleared.
            _ if self.sticky != 0 => Some(Answer::Fault),
            (false, ..) if writes_setting => None,
            (true, ..) if self.control & POWER_REQUESTS != POWER_REQUESTS => {
                self.sticky |= STICKYERR;
                Some(Answer::Fault)
            }
            _ if memory.is_busy() => Some(Answer::Wait),
            _ => None,
        };
        if refused.is_some() && self.control & ORUNDETECT != 0 {
            self.sticky |= STICKYORUN;
        }
        refused
    }

    /// The power-up requests are acknowledged at once.
    fn status(&self) -> u32 {
        match self.select & 15 {
            0 => self.control | (self.control & POWER_REQUESTS) << 1 | self.sticky,
            // Data link control: one turnaround cycle.
            1 => 0x40,
            _ => 0,
        }
    }

    fn abort(&mut self, value: u32) {
        let clears = [
            (1, STICKYCMP),
            (2, STICKYERR),
            (3, WDATAERR),
            (4, STICKYORUN),
        ];
        for (place, flag) in clears {
            if bit(value, place) {
                self.sticky &= !flag;
            }
        }
    }

    /// A transfer with the access port. A read returns the result of the read before it.
    fn access(&mut self, memory: &mut dyn Memory, request: Request, data: u32) -> Answer {
        let register = self.select & 0xf0 | u32::from(request.address);
        let is_there = self.select >> 24 == 0;
        if !request.is_read {
            if is_there && self.write(memory, register, data).is_err() {
                self.sticky |= STICKYERR;
            }
            return Answer::Ok(0);
        }
        let last = self.read_buffer;
        let found = if is_there {
            self.read(memory, register)
        } else {
            Ok(0)
        };
        match found {
            Ok(value) => self.read_buffer = value,
            Err(_) => self.sticky |= STICKYERR,
        }
        Answer::Ok(last)
    }

    fn width(&self) -> Width {
        match self.csw & 7 {
            0 => Width::Byte,
            1 => Width::Half,
            _ => Width::Word,
        }
    }

    fn count_up(&mut self) {
        if self.csw >> 4 & 3 != 0 {
            let next = self.tar.wrapping_add(self.width().bytes());
            self.tar = self.tar & !self.kind.wrap | next & self.kind.wrap;
        }
    }

    /// How many data one transfer moves.
    fn count(&self) -> u32 {
        if self.csw >> 4 & 3 == PACKED {
            4 / self.width().bytes()
        } else {
            1
        }
    }

    /// The address of a banked data register.
    fn banked(&self, register: u32) -> u32 {
        self.tar & !0xf | register & 0xc
    }

    /// The word address of an access, and the shift of its data: narrow data stays in its byte lanes.
    fn lane(&self) -> (u32, u32) {
        let width = self.width();
        let address = self.tar & !(width.bytes() - 1);
        (address, (address & 3) * 8)
    }

    fn read(&mut self, memory: &mut dyn Memory, register: u32) -> Result<u32, BusFault> {
        Ok(match register {
            AP_CSW => self.csw | CSW_ENABLED,
            AP_TAR => self.tar,
            AP_DRW => {
                let mut value = 0;
                for _ in 0..self.count() {
                    let (address, shift) = self.lane();
                    value |= memory.load(address, self.width())? << shift;
                    self.count_up();
                }
                value
            }
            0x10..=0x1c => memory.load(self.banked(register), Width::Word)?,
            0xf8 => AP_BASE,
            0xfc => self.kind.ap_id,
            _ => 0,
        })
    }

    fn write(&mut self, memory: &mut dyn Memory, register: u32, data: u32) -> Result<(), BusFault> {
        match register {
            AP_CSW => {
                // Words are the widest.
                let increment = match data >> 4 & 3 {
                    PACKED if self.kind.packs => PACKED,
                    SINGLE => SINGLE,
                    _ => 0,
                };
                self.csw = data & CSW_WRITABLE & !0x37 | increment << 4 | (data & 7).min(2);
            }
            AP_TAR => self.tar = data,
            AP_DRW => {
                for _ in 0..self.count() {
                    let (address, shift) = self.lane();
                    memory.store(address, self.width(), data >> shift)?;
                    self.count_up();
                }
            }
            0x10..=0x1c => memory.store(self.banked(register), Width::Word, data)?,
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 8 KiB of memory at 0, and nothing else.
    struct Ram(Vec<u8>);

    impl Memory for Ram {
        fn load(&mut self, address: u32, width: Width) -> Result<u32, BusFault> {
            let first = address as usize;
            let bytes = self.0.get(first..first + width.bytes() as usize);
            let bytes = bytes.ok_or(BusFault { address })?;
            Ok(bytes
                .iter()
                .rev()
                .fold(0, |word, byte| word << 8 | u32::from(*byte)))
        }

        fn store(&mut self, address: u32, width: Width, value: u32) -> Result<(), BusFault> {
            let (first, count) = (address as usize, width.bytes() as usize);
            let bytes = self.0.get_mut(first..first + count);
            let bytes = bytes.ok_or(BusFault { address })?;
            bytes.copy_from_slice(&value.to_le_bytes()[..count]);
            Ok(())
        }

        fn is_busy(&mut self) -> bool {
            false
        }
    }

    struct Bench {
        port: DebugPort,
        memory: Ram,
    }

    impl Bench {
        fn new() -> Self {
            Self::of(&CORTEX_M0)
        }

        fn of(kind: &'static AccessPort) -> Self {
            let memory = Ram(vec![0; 8192]);
            let port = DebugPort::new(kind);
            Self { port, memory }
        }

        fn powered() -> Self {
            let mut bench = Self::new();
            bench.dp_write(DP_CTRL, POWER_REQUESTS);
            bench
        }

        fn go(&mut self, is_ap: bool, is_read: bool, address: u8, data: u32) -> Answer {
            let request = Request {
                is_ap,
                is_read,
                address,
            };
            self.port.transfer(&mut self.memory, request, data)
        }

        fn dp_read(&mut self, address: u8) -> Answer {
            self.go(false, true, address, 0)
        }

        fn dp_write(&mut self, address: u8, data: u32) -> Answer {
            self.go(false, false, address, data)
        }

        fn write(&mut self, register: u32, data: u32) -> Answer {
            self.dp_write(DP_SELECT, register & 0xf0);
            self.go(true, false, crate::word::low_byte(register & 0xc), data)
        }

        /// Reads a register and fetches the result.
        fn read(&mut self, register: u32) -> Answer {
            self.dp_write(DP_SELECT, register & 0xf0);
            self.go(true, true, crate::word::low_byte(register & 0xc), 0);
            self.dp_read(DP_RDBUFF)
        }
    }

    #[test]
    fn the_access_port_needs_power() {
        let mut bench = Bench::new();
        assert_eq!(bench.dp_read(0), Answer::Ok(CORTEX_M0.dp_id));
        assert_eq!(bench.go(true, true, 0, 0), Answer::Fault);
        assert_eq!(bench.dp_read(DP_CTRL), Answer::Ok(STICKYERR));
        bench.dp_write(DP_ABORT, 0x1e);
        bench.dp_write(DP_CTRL, POWER_REQUESTS);
        assert_eq!(bench.dp_read(DP_CTRL), Answer::Ok(0xf000_0000));
        assert_eq!(bench.read(0xfc), Answer::Ok(CORTEX_M0.ap_id));
        assert_eq!(bench.read(0xf8), Answer::Ok(AP_BASE));
    }

    #[test]
    fn reads_are_posted() {
        let mut bench = Bench::powered();
        bench.memory.0[..8].copy_from_slice(&[1, 0, 0, 0, 2, 0, 0, 0]);
        bench.write(AP_CSW, 0x2300_0012);
        bench.write(AP_TAR, 0);
        assert_ne!(bench.go(true, true, 0xc, 0), Answer::Ok(1));
        assert_eq!(bench.go(true, true, 0xc, 0), Answer::Ok(1));
        assert_eq!(bench.dp_read(DP_RDBUFF), Answer::Ok(2));
        assert_eq!(bench.dp_read(DP_RDBUFF), Answer::Ok(2));
    }

    #[test]
    fn the_address_wraps_at_1_kib() {
        let mut bench = Bench::powered();
        bench.write(AP_CSW, 0x2300_0012);
        bench.write(AP_TAR, 0x7fc);
        bench.write(AP_DRW, 5);
        assert_eq!(bench.read(AP_TAR), Answer::Ok(0x400));
    }

    #[test]
    fn narrow_data_stays_in_its_lanes() {
        let mut bench = Bench::powered();
        bench.write(AP_CSW, 0x2300_0010);
        bench.write(AP_TAR, 0x101);
        bench.write(AP_DRW, 0x4433_2211);
        bench.write(AP_DRW, 0x4433_2211);
        assert_eq!(bench.memory.0[0x100..0x104], [0, 0x22, 0x33, 0]);
        bench.write(AP_CSW, 0x2300_0001);
        bench.write(AP_TAR, 0x102);
        assert_eq!(bench.read(AP_DRW), Answer::Ok(0x0033_0000));
        assert_eq!(bench.read(AP_TAR), Answer::Ok(0x102), "no increment");
    }

    #[test]
    fn packed_transfers_are_not_offered() {
        let mut bench = Bench::powered();
        bench.write(AP_CSW, 0x2300_0020);
        assert_eq!(bench.read(AP_CSW), Answer::Ok(0x2300_0040));
    }

    #[test]
    fn a_larger_core_packs_narrow_data_and_wraps_later() {
        let mut bench = Bench::of(&CORTEX_M4);
        bench.dp_write(DP_CTRL, POWER_REQUESTS);
        bench.write(AP_CSW, 0x2300_0021);
        bench.write(AP_TAR, 0xffc);
        bench.write(AP_DRW, 0x4433_2211);
        assert_eq!(bench.memory.0[0xffc..0x1000], [0x11, 0x22, 0x33, 0x44]);
        assert_eq!(bench.read(AP_TAR), Answer::Ok(0));
        bench.write(AP_CSW, 0x2300_0020);
        bench.write(AP_TAR, 0xffc);
        assert_eq!(bench.read(AP_DRW), Answer::Ok(0x4433_2211));
        assert_eq!(bench.read(AP_TAR), Answer::Ok(0));
    }

    #[test]
    fn a_bus_error_sticks_until_it_is_cleared() {
        let mut bench = Bench::powered();
        bench.write(AP_CSW, 0x2300_0012);
        bench.write(AP_TAR, 0x8000_0000);
        assert_eq!(
            bench.write(AP_DRW, 1),
            Answer::Ok(0),
            "the error shows later"
        );
        assert_eq!(bench.dp_read(DP_RDBUFF), Answer::Fault);
        assert_eq!(bench.go(true, true, 0, 0), Answer::Fault);
        assert_eq!(bench.dp_read(0), Answer::Ok(CORTEX_M0.dp_id));
        assert_eq!(bench.dp_read(DP_CTRL), Answer::Ok(0xf000_0020));
        bench.dp_write(DP_ABORT, 4);
        assert_eq!(bench.read(AP_TAR), Answer::Ok(0x8000_0000));
    }

    #[test]
    fn banked_registers_reach_four_words() {
        let mut bench = Bench::powered();
        bench.write(AP_TAR, 0x204);
        bench.write(0x1c, 9);
        assert_eq!(bench.memory.0[0x20c], 9);
        assert_eq!(bench.read(0x1c), Answer::Ok(9));
    }

    #[test]
    fn other_access_ports_are_empty() {
        let mut bench = Bench::powered();
        bench.dp_write(DP_SELECT, 0x0100_00f0);
        bench.go(true, true, 0xc, 0);
        assert_eq!(bench.dp_read(DP_RDBUFF), Answer::Ok(0));
    }
}
