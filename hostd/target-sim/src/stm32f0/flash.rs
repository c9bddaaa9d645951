//! Flash memory and its controller (FPEC): keys, programming by half words, page and mass erase with their
//! durations, write protection, option bytes and read protection.
//!
//! The cells change when an operation starts, and the busy flag stays set for its duration. The core cannot
//! fetch from a busy flash; an operation that is started during another one follows it.

use crate::bus::{BusFault, Width};
use crate::chip::{Clock, FLASH_BASE, FlashTimes, Part};
use crate::word::{bit, low_half};

const ACR: u32 = 0x00;
const KEYR: u32 = 0x04;
const OPTKEYR: u32 = 0x08;
const SR: u32 = 0x0c;
const CR: u32 = 0x10;
const AR: u32 = 0x14;
const OBR: u32 = 0x1c;
const WRPR: u32 = 0x20;

const KEYS: [u32; 2] = [0x4567_0123, 0xcdef_89ab];

const BSY: u32 = 1;
const PGERR: u32 = 1 << 2;
const WRPRTERR: u32 = 1 << 4;
const EOP: u32 = 1 << 5;

const PG: u32 = 1;
const PER: u32 = 1 << 1;
const MER: u32 = 1 << 2;
const OPTPG: u32 = 1 << 4;
const OPTER: u32 = 1 << 5;
const STRT: u32 = 1 << 6;
const LOCK: u32 = 1 << 7;
const OPTWRE: u32 = 1 << 9;
const OBL_LAUNCH: u32 = 1 << 13;

/// Typical values from the data sheet, for a half word and a page.
const TIMES: FlashTimes = FlashTimes {
    program_ns: 53_500,
    erase_ns: 30_000_000,
};

/// The value of the read protection byte without protection; any other except 0xcc means level 1.
const UNPROTECTED: u8 = 0xaa;
const PROTECTED_FOR_GOOD: u8 = 0xcc;
/// Option bytes as delivered: each is followed by its complement.
const OPTIONS: [u8; 16] = [
    UNPROTECTED,
    0x55,
    0xff,
    0x00,
    0xff,
    0x00,
    0xff,
    0x00,
    0xff,
    0x00,
    0xff,
    0x00,
    0xff,
    0x00,
    0xff,
    0x00,
];
/// Offsets of the write protection bytes in the option bytes.
const PROTECTION_BYTES: [usize; 4] = [8, 10, 12, 14];
/// The amount of flash that one bit of write protection covers.
const PROTECTED_BYTES_PER_BIT: u32 = 4096;

#[derive(Debug)]
pub(super) struct Flash {
    cells: Vec<u8>,
    options: [u8; 16],
    page_bytes: u32,
    acr: u32,
    status: u32,
    control: u32,
    address: u32,
    /// Number of correct keys of the sequence so far; `None` after a wrong one, until reset.
    keys: Option<usize>,
    option_keys: Option<usize>,
    /// Loaded from the option bytes at reset.
    obr: u32,
    wrpr: u32,
    busy_until: u64,
    /// Software requested a reset that loads the option bytes.
    launches_options: bool,
    times: FlashTimes,
    /// Offset of a worn-out half word: it stays erased.
    worn: Option<u32>,
}

impl Flash {
    pub(super) fn new(part: &Part) -> Self {
        let mut flash = Self {
            cells: vec![0xff; part.flash_bytes as usize],
            options: OPTIONS,
            page_bytes: part.page_bytes,
            acr: 0,
            status: 0,
            control: LOCK,
            address: 0,
            keys: Some(0),
            option_keys: Some(0),
            obr: 0,
            wrpr: 0,
            busy_until: 0,
            launches_options: false,
            times: TIMES,
            worn: None,
        };
        flash.reset();
        flash
    }

    pub(super) fn reset(&mut self) {
        self.acr = 0;
        self.status = 0;
        self.control = LOCK;
        self.address = 0;
        self.keys = Some(0);
        self.option_keys = Some(0);
        self.busy_until = 0;
        self.launches_options = false;
        self.load_options();
    }

    fn load_options(&mut self) {
        let bytes = self.options;
        let level = match (bytes[0], bytes[1]) {
            (UNPROTECTED, 0x55) => 0,
            (PROTECTED_FOR_GOOD, 0x33) => 3,
            _ => 1,
        };
        let byte = |place: usize| u32::from(bytes[place]);
        self.obr = level << 1 | byte(2) << 8 | byte(4) << 16 | byte(6) << 24;
        let protection = PROTECTION_BYTES.map(|place| bytes[place]);
        self.wrpr = u32::from_le_bytes(protection);
    }

    /// Whether a debugger's access to the cells is refused.
    pub(super) fn is_read_protected(&self) -> bool {
        self.obr >> 1 & 3 != 0
    }

    pub(super) fn cells(&self) -> &[u8] {
        &self.cells
    }

    pub(super) fn cells_mut(&mut self) -> &mut Vec<u8> {
        &mut self.cells
    }

    pub(super) fn options(&self) -> &[u8] {
        &self.options
    }

    /// Puts the part under read protection level 1, as if its option byte had been programmed.
    pub(super) fn protect_from_reading(&mut self) {
        self.options[..2].copy_from_slice(&[0x00, 0xff]);
        self.load_options();
    }

    pub(super) fn set_times(&mut self, times: FlashTimes) {
        self.times = times;
    }

    pub(super) fn wear_out(&mut self, offset: u32) {
        self.worn = Some(offset & !1);
    }

    pub(super) fn busy_until(&self) -> u64 {
        self.busy_until
    }

    pub(super) fn takes_launch(&mut self) -> bool {
        std::mem::take(&mut self.launches_options)
    }

    pub(super) fn read(&self, now: u64, offset: u32) -> u32 {
        match offset {
            // The prefetch buffer status follows its enable bit.
            ACR => self.acr | (self.acr & 0x10) << 1,
            SR if now < self.busy_until => self.status & !EOP | BSY,
            SR => self.status,
            CR => self.control,
            AR => self.address,
            OBR => self.obr,
            WRPR => self.wrpr,
            _ => 0,
        }
    }

    pub(super) fn write(
        &mut self,
        now: u64,
        clock: &Clock,
        offset: u32,
        value: u32,
    ) -> Result<(), ()> {
        match offset {
            ACR => self.acr = value & 0x17,
            KEYR if self.control & LOCK != 0 => {
                enter_key(&mut self.keys, value)?;
                if self.keys == Some(KEYS.len()) {
                    self.control &= !LOCK;
                    self.keys = Some(0);
                }
            }
            OPTKEYR if self.control & OPTWRE == 0 => {
                enter_key(&mut self.option_keys, value)?;
                if self.option_keys == Some(KEYS.len()) {
                    self.control |= OPTWRE;
                    self.option_keys = Some(0);
                }
            }
            SR => self.status &= !(value & (PGERR | WRPRTERR | EOP)),
            CR => self.write_control(now, clock, value),
            AR => self.address = value,
            _ => {}
        }
        Ok(())
    }

    fn write_control(&mut self, now: u64, clock: &Clock, value: u32) {
        if self.control & LOCK != 0 {
            return;
        }
        if value & LOCK != 0 {
            self.control = LOCK;
            return;
        }
        // OPTWRE can be cleared but not set by this register.
        self.control = value & 0x1437 | value & self.control & OPTWRE;
        if value & OBL_LAUNCH != 0 {
            self.launches_options = true;
        }
        if value & STRT != 0 {
            self.start_erase(now, clock);
        }
    }

    fn start_erase(&mut self, now: u64, clock: &Clock) {
        match self.control & (PER | MER | OPTER) {
            PER => {
                let page = self.address.wrapping_sub(FLASH_BASE) / self.page_bytes;
                let first = page.saturating_mul(self.page_bytes);
                if self.is_write_protected(first) {
                    self.status |= WRPRTERR;
                    return;
                }
                let first = first as usize;
                let Some(cells) = self.cells.get_mut(first..first + self.page_bytes as usize)
                else {
                    return;
                };
                cells.fill(0xff);
            }
            MER if self.wrpr != u32::MAX => {
                self.status |= WRPRTERR;
                return;
            }
            MER => self.cells.fill(0xff),
            OPTER if self.control & OPTWRE != 0 => self.options.fill(0xff),
            _ => return,
        }
        self.begin(now, clock, self.times.erase_ns);
    }

    fn begin(&mut self, now: u64, clock: &Clock, duration_ns: u64) {
        self.busy_until = self.busy_until.max(now) + clock.cycles(duration_ns);
        self.status |= EOP;
    }

    /// The last bit of protection covers all the rest of a large part.
    fn is_write_protected(&self, offset: u32) -> bool {
        !bit(self.wrpr, (offset / PROTECTED_BYTES_PER_BIT).min(31))
    }

    /// A write to the cells. It has no effect unless programming is enabled.
    pub(super) fn program(
        &mut self,
        now: u64,
        clock: &Clock,
        offset: u32,
        width: Width,
        value: u32,
    ) -> Result<(), BusFault> {
        if self.control & PG == 0 {
            return Ok(());
        }
        let address = FLASH_BASE + offset;
        if width != Width::Half {
            return Err(BusFault { address });
        }
        if self.is_write_protected(offset) {
            self.status |= WRPRTERR;
            return Ok(());
        }
        let first = offset as usize;
        let cells = self.cells.get_mut(first..first + 2);
        let cells = cells.ok_or(BusFault { address })?;
        if cells != [0xff; 2] && low_half(value) != 0 {
            self.status |= PGERR;
            return Ok(());
        }
        if self.worn != Some(offset) {
            cells.copy_from_slice(&low_half(value).to_le_bytes());
        }
        self.begin(now, clock, self.times.program_ns);
        Ok(())
    }

    /// A write to the option bytes: the hardware adds the complement. Removing the read protection erases
    /// the flash.
    pub(super) fn program_option(
        &mut self,
        now: u64,
        clock: &Clock,
        offset: u32,
        width: Width,
        value: u32,
    ) -> Result<(), BusFault> {
        if self.control & OPTPG == 0 || self.control & OPTWRE == 0 {
            return Ok(());
        }
        let address = super::OPTION_BYTES_BASE + offset;
        if width != Width::Half {
            return Err(BusFault { address });
        }
        let first = offset as usize;
        let cells = self.options.get_mut(first..first + 2);
        let cells = cells.ok_or(BusFault { address })?;
        if cells != [0xff; 2] {
            self.status |= PGERR;
            return Ok(());
        }
        let [byte, _] = low_half(value).to_le_bytes();
        cells.copy_from_slice(&[byte, !byte]);
        let mut duration_ns = self.times.program_ns;
        if offset == 0 && byte == UNPROTECTED && self.is_read_protected() {
            self.cells.fill(0xff);
            duration_ns += self.times.erase_ns;
        }
        self.begin(now, clock, duration_ns);
        Ok(())
    }
}

/// Enters one word of a key sequence. After a wrong one, only a reset allows another attempt.
fn enter_key(progress: &mut Option<usize>, value: u32) -> Result<(), ()> {
    let next = progress.filter(|count| KEYS.get(*count) == Some(&value));
    *progress = next.map(|count| count + 1);
    progress.map(drop).ok_or(())
}
