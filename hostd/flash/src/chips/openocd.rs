//! Target configurations by their OpenOCD names, since that is how benches have described their
//! targets so far.

/// Configurations and the families of chips that they stand for.
pub(super) const CONFIGURATIONS: &[(&str, &[&str])] = &[
    ("at91samdXX", &["SAMD10", "SAMD11", "SAMD21", "SAMDA1"]),
    ("atsame5x", &["SAMD51", "SAME51", "SAME53", "SAME54"]),
    ("gd32e23x", &["GD32E23x Series"]),
    ("nrf51", &["nRF51 Series"]),
    ("nrf52", &["nRF52 Series"]),
    ("nrf53", &["nRF53 Series"]),
    ("nrf91", &["nRF91 Series"]),
    ("rp2040", &["RP2040"]),
    ("rp2350", &["RP235x"]),
    ("stm32c0x", &["STM32C0 Series"]),
    ("stm32f0x", &["STM32F0 Series"]),
    ("stm32f1x", &["STM32F1 Series"]),
    ("stm32f2x", &["STM32F2 Series"]),
    ("stm32f3x", &["STM32F3 Series"]),
    ("stm32f4x", &["STM32F4 Series"]),
    ("stm32f7x", &["STM32F7 Series"]),
    ("stm32g0x", &["STM32G0 Series"]),
    ("stm32g4x", &["STM32G4 Series"]),
    ("stm32h5x", &["STM32H5 Series"]),
    ("stm32h7x", &["STM32H7 Series"]),
    ("stm32l0", &["STM32L0 Series"]),
    ("stm32l1", &["STM32L1 Series"]),
    ("stm32l4x", &["STM32L4 Series"]),
    ("stm32l5x", &["STM32L5 Series"]),
    ("stm32u5x", &["STM32U5 Series"]),
    ("stm32wbx", &["STM32WB Series"]),
    ("stm32wlx", &["STM32WL Series"]),
];

/// The name of a configuration without folder and extension.
pub(super) fn plain(name: &str) -> &str {
    let name = name.rsplit('/').next().unwrap_or(name);
    name.strip_suffix(".cfg").unwrap_or(name)
}

/// The families that a configuration stands for. A chip may have the same name as a configuration.
pub(super) fn families(name: &str) -> Option<&'static [&'static str]> {
    let plain = plain(name);
    let mut configurations = CONFIGURATIONS.iter();
    let found = configurations.find(|(known, _)| known.eq_ignore_ascii_case(plain));
    found.map(|(_, families)| *families)
}
