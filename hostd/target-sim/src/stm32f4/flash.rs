//! Flash memory and its controller: keys, programming in units of one to eight bytes, sector and mass erase
//! with their durations, option register, write and read protection.
//!
//! The cells change when an operation starts, and the busy flag stays set for its duration. The core cannot
//! fetch from a busy flash; an operation that is started during another one follows it.

use crate::bus::{BusFault, Width};
use crate::chip::{Clock, FLASH_BASE, FlashTimes, Part};
use crate::word::{bit, low_byte};

const ACR: u32 = 0x00;
const KEYR: u32 = 0x04;
const OPTKEYR: u32 = 0x08;
const SR: u32 = 0x0c;
const CR: u32 = 0x10;
const OPTCR: u32 = 0x14;

const KEYS: [u32; 2] = [0x4567_0123, 0xcdef_89ab];
const OPTION_KEYS: [u32; 2] = [0x0819_2a3b, 0x4c5d_6e7f];

const EOP: u32 = 1;
const WRPERR: u32 = 1 << 4;
const PGPERR: u32 = 1 << 6;
const PGSERR: u32 = 1 << 7;
const CLEARABLE: u32 = 0x1f3;
const BSY: u32 = 1 << 16;

const PG: u32 = 1;
const SER: u32 = 1 << 1;
const MER: u32 = 1 << 2;
const SECTOR: u32 = 3;
const SIZE: u32 = 8;
const STRT: u32 = 1 << 16;
const EOPIE: u32 = 1 << 24;
const LOCK: u32 = 1 << 31;
const CR_MASK: u32 = 0x8300_037f;
/// Size of the units that programming without an external voltage allows at most: not eight bytes.
const SIZE_WORD: u32 = 2;

const OPTLOCK: u32 = 1;
const OPTSTRT: u32 = 1 << 1;
/// As delivered: no protection.
const OPTIONS: u32 = 0x0fff_aaec;
const OPTIONS_MASK: u32 = 0x8fff_ffec;
const UNPROTECTED: u32 = 0xaa;
const PROTECTED_FOR_GOOD: u32 = 0xcc;
const WRITABLE: u32 = 16;

/// Typical values from the data sheet, for a word and a sector of 16 KiB, at 3.3 V.
const TIMES: FlashTimes = FlashTimes {
    program_ns: 16_000,
    erase_ns: 250_000_000,
};
/// A mass erase takes as long as this many of the smallest sectors.
const MASS_ERASE_SECTORS: u64 = 32;

/// Sizes of the first sectors, in KiB; all that follow are as large as the last.
const SECTORS_KIB: [u32; 6] = [16, 16, 16, 16, 64, 128];

/// Where a sector begins and how long it is, in bytes.
fn sector(number: u32) -> (u32, u32) {
    let size = |number: u32| {
        let place = (number as usize).min(SECTORS_KIB.len() - 1);
        SECTORS_KIB[place] * 1024
    };
    ((0..number).map(size).sum(), size(number))
}

/// The sector that an offset is in.
fn sector_at(offset: u32) -> u32 {
    let mut number = 0;
    while {
        let (first, bytes) = sector(number);
        offset >= first + bytes
    } {
        number += 1;
    }
    number
}

#[derive(Debug)]
pub(super) struct Flash {
    cells: Vec<u8>,
    acr: u32,
    status: u32,
    control: u32,
    options: u32,
    /// What OPTCR holds: becomes the options when software starts that.
    next_options: u32,
    options_locked: bool,
    /// Number of correct keys of the sequence so far; `None` after a wrong one, until reset.
    keys: Option<usize>,
    option_keys: Option<usize>,
    busy_until: u64,
    times: FlashTimes,
    /// Offset of a worn-out half word: it stays erased.
    worn: Option<u32>,
}

impl Flash {
    pub(super) fn new(part: &Part) -> Self {
        Self {
            cells: vec![0xff; part.flash_bytes as usize],
            acr: 0,
            status: 0,
            control: LOCK,
            options: OPTIONS,
            next_options: OPTIONS,
            options_locked: true,
            keys: Some(0),
            option_keys: Some(0),
            busy_until: 0,
            times: TIMES,
            worn: None,
        }
    }

    pub(super) fn reset(&mut self) {
        self.acr = 0;
        self.status = 0;
        self.control = LOCK;
        self.next_options = self.options;
        self.options_locked = true;
        self.keys = Some(0);
        self.option_keys = Some(0);
        self.busy_until = 0;
    }

    fn protection(&self) -> u32 {
        self.options >> 8 & 0xff
    }

    /// Whether a debugger's access to the cells is refused.
    pub(super) fn is_read_protected(&self) -> bool {
        self.protection() != UNPROTECTED
    }

    pub(super) fn cells(&self) -> &[u8] {
        &self.cells
    }

    pub(super) fn cells_mut(&mut self) -> &mut Vec<u8> {
        &mut self.cells
    }

    /// The option bytes as memory shows them: user options and protection, then the sectors that can be
    /// written, each with its complement.
    pub(super) fn option_word(&self, offset: u32) -> u32 {
        let half = match offset & !7 {
            0 => self.options & 0xffec,
            8 => self.options >> WRITABLE & 0xfff,
            _ => return u32::MAX,
        };
        if offset & 4 == 0 {
            half | (!half & 0xffff) << 16
        } else {
            u32::MAX
        }
    }

    /// Puts the part under read protection level 1, as if its option byte had been programmed.
    pub(super) fn protect_from_reading(&mut self) {
        self.options &= !(0xff << 8);
        self.next_options = self.options;
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

    pub(super) fn read(&self, now: u64, offset: u32) -> u32 {
        match offset {
            ACR => self.acr,
            SR if now < self.busy_until => self.status & !EOP | BSY,
            SR => self.status,
            CR if now < self.busy_until => self.control,
            CR => self.control & !STRT,
            OPTCR => self.next_options | u32::from(self.options_locked),
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
            ACR => self.acr = value & 0x1f0f,
            KEYR if self.control & LOCK != 0 => {
                enter_key(&mut self.keys, KEYS, value)?;
                if self.keys == Some(KEYS.len()) {
                    self.control &= !LOCK;
                    self.keys = Some(0);
                }
            }
            OPTKEYR if self.options_locked => {
                enter_key(&mut self.option_keys, OPTION_KEYS, value)?;
                if self.option_keys == Some(OPTION_KEYS.len()) {
                    self.options_locked = false;
                    self.option_keys = Some(0);
                }
            }
            SR => self.status &= !(value & CLEARABLE),
            CR => self.write_control(now, clock, value),
            OPTCR => self.write_options(now, clock, value),
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
        self.control = value & CR_MASK;
        if value & STRT != 0 {
            self.start_erase(now, clock);
        }
    }

    fn start_erase(&mut self, now: u64, clock: &Clock) {
        let is_protected = |number: u32| !bit(self.options, WRITABLE + number.min(11));
        let duration_ns = match self.control & (SER | MER) {
            SER => {
                let number = self.control >> SECTOR & 15;
                let (first, bytes) = sector(number);
                let range = first as usize..(first + bytes) as usize;
                if is_protected(number) {
                    self.status |= WRPERR;
                    return;
                }
                let Some(cells) = self.cells.get_mut(range) else {
                    self.status |= PGSERR;
                    return;
                };
                cells.fill(0xff);
                // Larger sectors take longer, but not in proportion.
                match bytes / (16 * 1024) {
                    1 => self.times.erase_ns,
                    4 => self.times.erase_ns * 2,
                    _ => self.times.erase_ns * 4,
                }
            }
            MER => {
                let last = sector_at(u32::try_from(self.cells.len() - 1).unwrap_or(0));
                if (0..=last).any(is_protected) {
                    self.status |= WRPERR;
                    return;
                }
                self.cells.fill(0xff);
                self.times.erase_ns * MASS_ERASE_SECTORS
            }
            _ => return,
        };
        self.begin(now, clock, duration_ns);
    }

    /// New options take effect at once; taking read protection off erases the flash.
    fn write_options(&mut self, now: u64, clock: &Clock, value: u32) {
        if self.options_locked {
            return;
        }
        if value & OPTLOCK != 0 {
            self.options_locked = true;
        }
        if self.protection() == PROTECTED_FOR_GOOD {
            return;
        }
        if value & OPTSTRT == 0 {
            self.next_options = value & OPTIONS_MASK;
            return;
        }
        let next = value & OPTIONS_MASK;
        let mut duration_ns = self.times.program_ns;
        if next >> 8 & 0xff == UNPROTECTED && self.is_read_protected() {
            self.cells.fill(0xff);
            duration_ns += self.times.erase_ns * MASS_ERASE_SECTORS;
        }
        (self.options, self.next_options) = (next, next);
        self.begin(now, clock, duration_ns);
    }

    fn begin(&mut self, now: u64, clock: &Clock, duration_ns: u64) {
        self.busy_until = self.busy_until.max(now) + clock.cycles(duration_ns);
        if self.control & EOPIE != 0 {
            self.status |= EOP;
        }
    }

    /// A write to the cells: bits can only be cleared.
    pub(super) fn program(
        &mut self,
        now: u64,
        clock: &Clock,
        offset: u32,
        width: Width,
        value: u32,
    ) -> Result<(), BusFault> {
        if self.control & (PG | LOCK) != PG {
            self.status |= PGSERR;
            return Ok(());
        }
        let unit = self.control >> SIZE & 3;
        if unit > SIZE_WORD || 1 << unit != width.bytes() {
            self.status |= PGPERR;
            return Ok(());
        }
        if !bit(self.options, WRITABLE + sector_at(offset).min(11)) {
            self.status |= WRPERR;
            return Ok(());
        }
        let first = offset as usize;
        let cells = self.cells.get_mut(first..first + width.bytes() as usize);
        let cells = cells.ok_or(BusFault {
            address: FLASH_BASE + offset,
        })?;
        for (place, cell) in (0..).zip(cells) {
            let is_worn = self.worn == Some((offset + place) & !1);
            if !is_worn {
                *cell &= low_byte(value >> (8 * place));
            }
        }
        self.begin(now, clock, self.times.program_ns);
        Ok(())
    }
}

/// Enters one word of a key sequence. After a wrong one, only a reset allows another attempt.
fn enter_key(progress: &mut Option<usize>, keys: [u32; 2], value: u32) -> Result<(), ()> {
    let next = progress.filter(|count| keys.get(*count) == Some(&value));
    *progress = next.map(|count| count + 1);
    progress.map(drop).ok_or(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_are_those_of_the_reference_manual() {
        let begin: Vec<u32> = (0..8).map(|number| sector(number).0 / 1024).collect();
        assert_eq!(begin, [0, 16, 32, 48, 64, 128, 256, 384]);
        assert_eq!(sector_at(0), 0);
        assert_eq!(sector_at(0xffff), 3);
        assert_eq!(sector_at(0x1_0000), 4);
        assert_eq!(sector_at(0x7_ffff), 7);
    }
}
