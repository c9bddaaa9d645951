//! How targets identify themselves, as words in their memory.

use super::{Identity, nordic, st};
use crate::chips::Catalog;

const CORTEX_M0: u32 = 0x410c_c200;
const CORTEX_M4: u32 = 0x410f_c241;

/// Words that can be read; nothing else can.
fn identity(catalog: &Catalog, expected: &str, words: &[(u64, u32)]) -> Option<Identity> {
    let expected = catalog.find(expected).unwrap();
    Identity::read(catalog, &expected, &mut |address| {
        let found = words.iter().find(|(place, _)| *place == address);
        found.map(|(_, word)| *word)
    })
}

fn admits(catalog: &Catalog, identity: &Identity, name: &str) -> bool {
    let candidates = catalog.find(name).unwrap();
    candidates.iter().all(|chip| identity.admits(chip))
}

#[test]
fn a_chip_of_st_is_known_by_its_identifier_and_the_size_of_its_flash() {
    let catalog = Catalog::load();
    let words = [
        (0xe000_ed00, CORTEX_M4),
        (0xe004_2000, 0x1007_6413),
        (0x1fff_7a20, 0x0400_1234),
        (0x4002_3c14, 0x0fff_aaed),
    ];
    let found = identity(&catalog, "target/stm32f4x.cfg", &words).unwrap();
    assert_eq!(found.flash_bytes(), Some(1 << 20));
    assert!(found.is_known() && !found.is_protected);
    assert!(admits(&catalog, &found, "STM32F407VG") && admits(&catalog, &found, "STM32F417"));
    for other in ["STM32F401RE", "STM32F030R8", "nRF52840_xxAA"] {
        assert!(!admits(&catalog, &found, other), "{other}");
    }
    let text = "a chip with device id 0x413 (STM32F405, STM32F407, STM32F415, STM32F417) and 1024 KiB of flash";
    assert_eq!(found.to_string(), text);

    // Asked for another series it is still known, but the registers of that series mean nothing in it.
    let found = identity(&catalog, "STM32F030R8", &words).unwrap();
    assert_eq!(found.flash_bytes(), None);
    assert!(!found.is_protected && !admits(&catalog, &found, "STM32F030R8"));

    let mut locked = words;
    locked[3].1 = 0x0fff_55ed;
    assert!(
        identity(&catalog, "stm32f4x", &locked)
            .unwrap()
            .is_protected
    );
}

#[test]
fn a_chip_of_nordic_is_known_by_its_factory_information() {
    let catalog = Catalog::load();
    let words = [
        (0xe000_ed00, CORTEX_M4),
        (0x1000_0010, 4096),
        (0x1000_0014, 128),
        (0x1000_0100, 0x52832),
        // A variant that nobody knew when the table was made.
        (0x1000_0104, 0x5a5a_5a5a),
    ];
    let found = identity(&catalog, "target/nrf52.cfg", &words).unwrap();
    assert_eq!(found.to_string(), "an nRF52832 with 512 KiB of flash");
    assert!(admits(&catalog, &found, "nRF52832_xxAA"));
    assert!(!admits(&catalog, &found, "nRF52840_xxAA") && !admits(&catalog, &found, "STM32F4"));
    let found = identity(&catalog, "STM32F407VG", &words).unwrap();
    assert!(found.is_known() && !admits(&catalog, &found, "STM32F407VG"));

    let words = [
        (0xe000_ed00, CORTEX_M0),
        (0x1000_0010, 1024),
        (0x1000_0014, 256),
        (0x1000_005c, 0xffff_001d),
    ];
    let found = identity(&catalog, "nrf51", &words).unwrap();
    assert_eq!(found.flash_bytes(), Some(256 * 1024));
    assert!(admits(&catalog, &found, "nRF51822_xxAA"));
    assert!(!admits(&catalog, &found, "STM32F030R8"));
    // The number alone is not enough.
    assert!(
        !identity(&catalog, "nrf51", &[words[0], words[3]])
            .unwrap()
            .is_known()
    );
}

#[test]
fn of_other_chips_the_core_is_known_at_least() {
    let catalog = Catalog::load();
    let found = identity(&catalog, "ATSAMD21G18A", &[(0xe000_ed00, CORTEX_M0)]).unwrap();
    assert!(!found.is_known());
    assert_eq!(found.to_string(), "a chip with a Cortex-M0");
    assert!(admits(&catalog, &found, "ATSAMD21G18A") && !admits(&catalog, &found, "ATSAMD51J20A"));
    let words = [(0xe000_ed00, 0x410c_c601), (0x4000_0000, 0x2000_2927)];
    let found = identity(&catalog, "rp2040", &words).unwrap();
    assert_eq!(found.to_string(), "an RP2040");
    assert!(admits(&catalog, &found, "rp2040") && !admits(&catalog, &found, "STM32F030R8"));
    assert_eq!(identity(&catalog, "rp2040", &[]), None);
    assert_eq!(identity(&catalog, "rp2040", &[(0xe000_ed00, 0)]), None);
}

#[test]
fn the_tables_speak_of_chips_that_there_are() {
    let catalog = Catalog::load();
    let names: Vec<&str> = catalog
        .families()
        .iter()
        .flat_map(|family| &family.variants)
        .map(|chip| chip.name.as_str())
        .collect();
    for found in st::Found::all() {
        assert!(names.iter().any(|name| found.admits(name)), "{found}");
    }
    let mut unknown = Vec::new();
    for series in st::series_names() {
        let family = catalog
            .families()
            .iter()
            .find(|family| family.name == series);
        let chips = family
            .unwrap()
            .variants
            .iter()
            .map(|chip| chip.name.as_str());
        unknown.extend(chips.filter(|name| !st::Found::all().any(|found| found.admits(name))));
    }
    assert!(unknown.is_empty(), "no identifier is known for {unknown:?}");
    let read = &mut |_| Some(0xffff_ffff);
    assert_eq!(nordic::Found::read(&catalog, read), None);
}
