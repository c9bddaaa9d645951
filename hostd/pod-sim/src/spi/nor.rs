//! A 25-series NOR flash of 8 MiB: bytes in, bytes out, and the effects of commands when the chip
//! is deselected. Erased sectors use no memory.

use std::collections::BTreeMap;

/// Manufacturer, type and size code.
pub(crate) const ID: [u8; 3] = [0xef, 0x40, 0x17];

pub(crate) const SIZE: u32 = 8 << 20;
pub(crate) const SECTOR: u32 = 4096;
const BLOCK: u32 = 64 * 1024;
const PAGE: usize = 256;

/// Bytes of a frame that a command can need: opcode, address, one page.
const FRAME_BYTES: usize = 4 + PAGE;

const BUSY: u8 = 0x01;
const WRITE_ENABLED: u8 = 0x02;

/// Typical times of a W25Q64JV.
const PROGRAM_NS: u64 = 400_000;
const ERASE_SECTOR_NS: u64 = 45_000_000;
const ERASE_BLOCK_NS: u64 = 150_000_000;
const ERASE_CHIP_NS: u64 = 20_000_000_000;

/// The chip and the frame it is in.
#[derive(Debug, Default)]
pub(crate) struct Nor {
    sectors: BTreeMap<u32, Vec<u8>>,
    write_enabled: bool,
    /// The first bytes since the chip was selected.
    frame: Vec<u8>,
    /// All bytes since then.
    count: u32,
    /// Until then only the status is readable.
    busy_until_ns: u64,
}

impl Nor {
    /// Shifts a byte in and one out, in a frame that began at `at_ns`.
    pub(crate) fn shift(&mut self, byte: u8, at_ns: u64) -> u8 {
        let index = self.count;
        self.count = self.count.saturating_add(1);
        if self.frame.len() < FRAME_BYTES {
            self.frame.push(byte);
        }
        match (self.frame[0], index) {
            (_, 0) => 0xff,
            (0x9f, _) => ID.get(index as usize - 1).copied().unwrap_or(0xff),
            (0x05, _) if at_ns < self.busy_until_ns => BUSY | WRITE_ENABLED,
            (0x05, _) => u8::from(self.write_enabled) * WRITE_ENABLED,
            _ if at_ns < self.busy_until_ns => 0xff,
            (0x03, 4..) => self.read(self.address().wrapping_add(index - 4)),
            (0x0b, 5..) => self.read(self.address().wrapping_add(index - 5)),
            _ => 0xff,
        }
    }

    /// The chip is deselected: commands that change something take effect now.
    pub(crate) fn deselect(&mut self, at_ns: u64) {
        self.count = 0;
        let frame = std::mem::take(&mut self.frame);
        let Some(command) = frame.first() else { return };
        let address = frame.get(1..4).map(|bytes| {
            bytes
                .iter()
                .fold(0, |address, byte| address << 8 | u32::from(*byte))
        });
        if at_ns < self.busy_until_ns {
            return;
        }
        match (*command, address) {
            (0x06, _) => self.write_enabled = true,
            (0x04, _) => self.write_enabled = false,
            (0x02, Some(address)) if self.take_enable() => {
                self.program(address, &frame[4..]);
                self.busy_until_ns = at_ns + PROGRAM_NS;
            }
            (0x20, Some(address)) if self.take_enable() => {
                self.erase(address, SECTOR);
                self.busy_until_ns = at_ns + ERASE_SECTOR_NS;
            }
            (0xd8, Some(address)) if self.take_enable() => {
                self.erase(address, BLOCK);
                self.busy_until_ns = at_ns + ERASE_BLOCK_NS;
            }
            (0xc7 | 0x60, _) if self.take_enable() => {
                self.sectors.clear();
                self.busy_until_ns = at_ns + ERASE_CHIP_NS;
            }
            _ => {}
        }
    }

    /// Checks and clears the write enable, which every change needs anew.
    fn take_enable(&mut self) -> bool {
        std::mem::take(&mut self.write_enabled)
    }

    fn address(&self) -> u32 {
        let bytes = self.frame.iter().skip(1).take(3);
        bytes.fold(0, |address, byte| address << 8 | u32::from(*byte))
    }

    fn read(&self, address: u32) -> u8 {
        let address = address % SIZE;
        let sector = self.sectors.get(&(address / SECTOR));
        sector.map_or(0xff, |sector| sector[(address % SECTOR) as usize])
    }

    /// Clears bits; past the end of the page it continues at the page's start.
    fn program(&mut self, address: u32, data: &[u8]) {
        let address = address % SIZE;
        let sector = self.sectors.entry(address / SECTOR);
        let sector = sector.or_insert_with(|| vec![0xff; SECTOR as usize]);
        let at = (address % SECTOR) as usize;
        let page = at / PAGE * PAGE;
        for (offset, byte) in data.iter().enumerate() {
            sector[page + (at + offset) % PAGE] &= byte;
        }
    }

    fn erase(&mut self, address: u32, length: u32) {
        let first = address % SIZE / length * length / SECTOR;
        for sector in first..first + length / SECTOR {
            self.sectors.remove(&sector);
        }
    }
}
