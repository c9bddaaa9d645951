//! The members of the family that are simulated: what differs between them.

/// One microcontroller type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Name as flash tools know it.
    pub name: &'static str,
    /// DBGMCU_IDCODE: the low 12 bits name the device, the high 16 its revision.
    pub id_code: u32,
    /// Main flash, in bytes.
    pub flash_bytes: u32,
    /// What one page erase erases, in bytes.
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
