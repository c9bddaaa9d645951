//! The members of the family that are simulated: what differs between them.

/// Parts that differ only in their memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Cortex-M0.
    Stm32f0,
    /// Cortex-M4 with floating point.
    Stm32f4,
}

/// Supply current, in milliamperes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Currents {
    /// While executing: a constant part, and one per megahertz.
    pub run: [f64; 2],
    /// While sleeping, likewise.
    pub sleep: [f64; 2],
    /// While held in reset.
    pub reset: f64,
}

/// One microcontroller type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Name used by flash tools.
    pub name: &'static str,
    /// What it has beside memory.
    pub family: Family,
    /// DBGMCU_IDCODE: the low 12 bits identify the device, the high 16 its revision.
    pub id_code: u32,
    /// Main flash, in bytes.
    pub flash_bytes: u32,
    /// Size of a page, the smallest unit of erasing, in bytes.
    pub page_bytes: u32,
    /// SRAM, in bytes.
    pub sram_bytes: u32,
}

/// 64 KiB of flash, 8 KiB of SRAM.
pub const STM32F030R8: Part = Part {
    name: "STM32F030R8Tx",
    family: Family::Stm32f0,
    id_code: 0x2000_6440,
    flash_bytes: 64 * 1024,
    page_bytes: 1024,
    sram_bytes: 8 * 1024,
};

/// 256 KiB of flash, 32 KiB of SRAM.
pub const STM32F030RC: Part = Part {
    name: "STM32F030RCTx",
    family: Family::Stm32f0,
    id_code: 0x2000_6442,
    flash_bytes: 256 * 1024,
    page_bytes: 2048,
    sram_bytes: 32 * 1024,
};

/// 512 KiB of flash, 128 KiB of SRAM.
pub const STM32F446RE: Part = Part {
    name: "STM32F446RETx",
    family: Family::Stm32f4,
    id_code: 0x1000_6421,
    flash_bytes: 512 * 1024,
    page_bytes: 16 * 1024,
    sram_bytes: 128 * 1024,
};

/// All parts that are simulated.
const PARTS: [Part; 3] = [STM32F030R8, STM32F030RC, STM32F446RE];

impl Part {
    /// The names of all parts that are simulated, without the letters of their packages.
    pub fn names() -> impl Iterator<Item = &'static str> {
        PARTS.iter().map(Self::short_name)
    }

    /// Its name without the letters of its package.
    #[must_use]
    pub(crate) fn short_name(&self) -> &'static str {
        self.name.trim_end_matches("Tx")
    }

    /// What it draws, by its data sheet (code from flash).
    #[must_use]
    pub const fn currents(&self) -> Currents {
        match self.family {
            Family::Stm32f0 => Currents {
                run: [1.0, 0.44],
                sleep: [0.5, 0.08],
                reset: 0.8,
            },
            Family::Stm32f4 => Currents {
                run: [1.5, 0.27],
                sleep: [1.0, 0.11],
                reset: 1.2,
            },
        }
    }

    /// The part with this name: with or without the letters of its package, or only its line (`STM32F446`)
    /// if there is no other of it. Upper and lower case are equivalent.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let is_it = |part: &&Self| {
            name.eq_ignore_ascii_case(part.name) || name.eq_ignore_ascii_case(part.short_name())
        };
        let is_of_line = |part: &&Self| name.eq_ignore_ascii_case(&part.name[..LINE_LETTERS]);
        let mut of_line = PARTS.iter().filter(is_of_line);
        let only = of_line.next().filter(|_| of_line.next().is_none());
        PARTS.iter().find(is_it).or(only).copied()
    }
}

/// So many letters of a name are the line's: `STM32F446`.
const LINE_LETTERS: usize = 9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found_by_name() {
        assert_eq!(Part::named("STM32F030RC"), Some(STM32F030RC));
        assert_eq!(Part::named("stm32f030r8tx"), Some(STM32F030R8));
        assert_eq!(Part::named("stm32f446re"), Some(STM32F446RE));
        assert_eq!(Part::named("STM32F446"), Some(STM32F446RE));
        assert_eq!(Part::named("STM32F4"), None);
        assert_eq!(Part::named("STM32F030"), None, "there are two");
        assert_eq!(Part::named("STM32F030R"), None);
        assert_eq!(Part::named(""), None);
    }
}
