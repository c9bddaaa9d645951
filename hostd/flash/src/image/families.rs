//! Families of chips in UF2 files.
//!
//! The numbers are those of the list that the format's authors keep (microsoft/uf2, `utils/uf2families.json`), as far as
//! the chips have an Arm core.

use std::fmt;

/// The number of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Family(pub u32);

/// Raspberry Pi's family of data at addresses of the whole flash, beside any other of theirs.
pub(super) const ABSOLUTE: Family = Family(0xe48b_ff57);

/// Name, number, and how names of its chips begin.
const KNOWN: &[(&str, u32, &str)] = &[
    ("AT32F415", 0xa0c9_7b8e, "AT32F415"),
    ("GD32F350", 0x31d2_28c6, "GD32F350"),
    ("KL32L2", 0x7f83_e793, "K32L2"),
    ("LPC55", 0x2abc_77ec, "LPC55"),
    ("MAX32650", 0xd63f_8632, "MAX3265"),
    ("MAX32666", 0xf0c3_0d71, "MAX3266"),
    ("MAX32690", 0x7410_520a, "MAX32690"),
    ("MAX78002", 0x91d3_fd18, "MAX78002"),
    ("MIMXRT10XX", 0x4fb2_d5bd, "MIMXRT10"),
    ("NRF52", 0x1b57_745f, "nRF52"),
    ("NRF52820", 0x820d_9a5f, "nRF52820"),
    ("NRF52832xxAA", 0x7272_1d4e, "nRF52832_xxAA"),
    ("NRF52832xxAB", 0x6f75_2678, "nRF52832_xxAB"),
    ("NRF52833", 0x621e_937a, "nRF52833"),
    ("NRF52840", 0xada5_2840, "nRF52840"),
    ("RA4M1", 0x7be8_976d, "R7FA4M1"),
    ("RP2040", 0xe48b_ff56, "RP2040"),
    ("RP2350_ARM_S", 0xe48b_ff59, "RP235"),
    ("RP2XXX_ABSOLUTE", ABSOLUTE.0, "RP2"),
    ("RP2XXX_DATA", 0xe48b_ff58, ""),
    ("RP2350_RISCV", 0xe48b_ff5a, ""),
    ("RP2350_ARM_NS", 0xe48b_ff5b, ""),
    ("SAMD21", 0x68ed_2b88, "ATSAMD21"),
    ("SAMD51", 0x5511_4460, "ATSAMD51"),
    ("SAML21", 0x1851_780a, "ATSAML21"),
    ("STM32F0", 0x6478_24b6, "STM32F0"),
    ("STM32F1", 0x5ee2_1072, "STM32F1"),
    ("STM32F2", 0x5d1a_0a2e, "STM32F2"),
    ("STM32F3", 0x6b84_6188, "STM32F3"),
    ("STM32F4", 0x5775_5a57, "STM32F4"),
    ("STM32F407", 0x6d09_22fa, "STM32F407"),
    ("STM32F407VG", 0x8fb0_60fe, "STM32F407VG"),
    ("STM32F411xC", 0x06d1_097b, "STM32F411xC"),
    ("STM32F411xE", 0x2dc3_09c5, "STM32F411xE"),
    ("STM32F7", 0x53b8_0f00, "STM32F7"),
    ("STM32G0", 0x300f_5633, "STM32G0"),
    ("STM32G4", 0x4c71_240a, "STM32G4"),
    ("STM32H5", 0x4e8f_1c5d, "STM32H5"),
    ("STM32H7", 0x6db6_6082, "STM32H7"),
    ("STM32L0", 0x202e_3a91, "STM32L0"),
    ("STM32L1", 0x1e1f_432d, "STM32L1"),
    ("STM32L4", 0x00ff_6919, "STM32L4"),
    ("STM32L5", 0x0424_0bdf, "STM32L5"),
    ("STM32WB", 0x70d1_6653, "STM32WB"),
    ("STM32WL", 0x2146_0ff0, "STM32WL"),
];

/// The families that a chip belongs to, the narrowest first. None: the list has no family for it. A name may be that of an
/// OpenOCD configuration.
pub(super) fn of_chip(chip: &str) -> Vec<Family> {
    let chip = chip.rsplit('/').next().unwrap_or(chip);
    let mut found: Vec<_> = KNOWN
        .iter()
        .filter(|(_, _, beginning)| !beginning.is_empty() && fits(chip, beginning))
        .collect();
    found.sort_by_key(|(_, _, beginning)| std::cmp::Reverse(beginning.len()));
    found.iter().map(|(_, number, _)| Family(*number)).collect()
}

/// Whether a chip's name begins so; a small `x` stands for any character.
fn fits(chip: &str, beginning: &str) -> bool {
    let mut chip = chip.bytes();
    beginning.bytes().all(|wanted| {
        let found = chip.next();
        found.is_some_and(|found| wanted == b'x' || found.eq_ignore_ascii_case(&wanted))
    })
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match KNOWN.iter().find(|(_, number, _)| *number == self.0) {
            Some((name, _, _)) => f.write_str(name),
            None => write!(f, "{:#010x}", self.0),
        }
    }
}
