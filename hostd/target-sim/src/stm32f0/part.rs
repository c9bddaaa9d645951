//! The members of the family that are simulated: what differs between them.

/// One microcontroller type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Name used by flash tools.
    pub name: &'static str,
    /// DBGMCU_IDCODE: the low 12 bits identify the device, the high 16 its revision.
    pub id_code: u32,
    /// Main flash, in bytes.
    pub flash_bytes: u32,
    /// Size of a page, the unit of erasing, in bytes.
    pub page_bytes: u32,
    /// SRAM, in bytes.
    pub sram_bytes: u32,
}

/// 64 KiB of flash, 8 KiB of SRAM.
pub const STM32F030R8: Part = Part {
    name: "STM32F030R8Tx",
    id_code: 0x2000_6440,
    flash_bytes: 64 * 1024,
    page_bytes: 1024,
    sram_bytes: 8 * 1024,
};

/// 256 KiB of flash, 32 KiB of SRAM.
pub const STM32F030RC: Part = Part {
    name: "STM32F030RCTx",
    id_code: 0x2000_6442,
    flash_bytes: 256 * 1024,
    page_bytes: 2048,
    sram_bytes: 32 * 1024,
};

/// All parts that are simulated.
const PARTS: [Part; 2] = [STM32F030R8, STM32F030RC];

impl Part {
    /// The part with this name, with or without the letters of its package; upper and lower case are
    /// equivalent.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let is_it = |part: &Part| {
            let (short, _) = part.name.split_at(part.name.len() - "Tx".len());
            name.eq_ignore_ascii_case(part.name) || name.eq_ignore_ascii_case(short)
        };
        PARTS.into_iter().find(is_it)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found_by_name() {
        assert_eq!(Part::named("STM32F030RC"), Some(STM32F030RC));
        assert_eq!(Part::named("stm32f030r8tx"), Some(STM32F030R8));
        assert_eq!(Part::named("STM32F030R"), None);
        assert_eq!(Part::named(""), None);
    }
}
