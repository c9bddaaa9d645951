//! What names mean.

use super::{Catalog, begins, check_chip, chip_refusal, choose, openocd};
use crate::error::FlashError;

fn names(catalog: &Catalog, asked: &str) -> Vec<String> {
    let found = catalog.find(asked).unwrap();
    found
        .iter()
        .map(|candidate| candidate.chip.name.clone())
        .collect()
}

#[test]
fn a_small_x_in_a_name_is_any_letter() {
    assert!(begins("STM32F030R8Tx", "stm32f030r8t6") && begins("STM32F030R8Tx", "STM32F030"));
    assert!(!begins("STM32F030R8Tx", "STM32F030R8T6TR") && !begins("STM32F030R8Tx", "STM32F031"));
}

#[test]
fn whole_names_come_before_configurations_and_those_before_beginnings() {
    let catalog = Catalog::load();
    for asked in [
        "STM32F030R8",
        "stm32f030r8tx",
        "STM32F030R8T6",
        " STM32F030R8 ",
    ] {
        assert_eq!(names(&catalog, asked), ["STM32F030R8"], "{asked}");
    }
    assert_eq!(names(&catalog, "rp2040"), ["RP2040"]);
    assert_eq!(
        names(&catalog, "nRF52832"),
        ["nRF52832_xxAA", "nRF52832_xxAB"]
    );
    let all = names(&catalog, "target/stm32f0x.cfg");
    assert_eq!(all, names(&catalog, "STM32F0X"));
    assert!(all.len() > 40 && all.iter().all(|name| name.starts_with("STM32F0")));
}

#[test]
fn every_configuration_stands_for_chips() {
    let catalog = Catalog::load();
    for (configuration, families) in openocd::CONFIGURATIONS {
        for family in *families {
            let known = catalog.families().iter().any(|known| known.name == *family);
            assert!(known, "{configuration}: {family}");
        }
        assert!(catalog.find(&format!("target/{configuration}.cfg")).is_ok());
    }
}

#[test]
fn every_chip_is_one_that_the_library_can_program() {
    let catalog = Catalog::load();
    for candidate in catalog.chips() {
        let target = catalog.target(candidate).unwrap();
        assert_eq!(target.name, candidate.chip.name);
        assert!(candidate.flash_bytes() > 0);
    }
}

#[test]
fn of_several_that_fit_the_smallest_of_the_right_size_is_taken() {
    let catalog = Catalog::load();
    let all = catalog.find("stm32f0x").unwrap();
    let chosen = choose("stm32f0x", all.clone(), Some(256 * 1024), true).unwrap();
    assert_eq!(chosen.flash_bytes(), 256 * 1024);
    assert!(
        all.iter()
            .all(|other| other.flash_bytes() != 256 * 1024
                || other.ram_bytes() >= chosen.ram_bytes())
    );
    let error = choose("stm32f0x", all, None, false).err().unwrap();
    let FlashError::AmbiguousChip { names, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!(names.len(), super::AMBIGUOUS_MAX);
}

#[test]
fn a_chip_is_refused_alike_before_and_when_it_is_flashed() {
    for asked in [
        "STM32F030R8",
        " stm32f030r8t6 ",
        "target/stm32f0x.cfg",
        "stm32f0",
        "stm32f03r8",
        "esp32c3",
        "toaster",
        "",
    ] {
        let flashed = check_chip(asked).err().map(|error| error.to_string());
        assert_eq!(chip_refusal(asked), flashed, "{asked}");
    }
    let refusal = chip_refusal("stm32f03r8").unwrap();
    assert!(
        refusal.contains("; the nearest are ") && refusal.contains("STM32F030R8"),
        "{refusal}"
    );
}
