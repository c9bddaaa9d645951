//! The chip as software sees it: the map, clocks that are off, flash, pins, and the serial port on them.

use super::*;
use crate::bus::NEVER;
use crate::chip::{Drive, Port, STM32F030R8, STM32F030RC};

const RCC_AHBENR: u32 = 0x4002_1014;
const RCC_APB2ENR: u32 = 0x4002_1018;
const GPIOA: u32 = 0x4800_0000;
const USART1: u32 = 0x4001_3800;
const FPEC: u32 = 0x4002_2000;

fn chip() -> Stm32f0 {
    let mut chip = Stm32f0::new(STM32F030R8);
    chip.reset(0, ResetCause::Power);
    while chip.take_change().is_some() {}
    chip
}

fn write(chip: &mut Stm32f0, address: u32, value: u32) {
    chip.store(0, address, Width::Word, value).unwrap();
}

fn read(chip: &mut Stm32f0, address: u32) -> u32 {
    chip.load(0, address, Width::Word).unwrap()
}

#[test]
fn flash_lies_at_zero_too() {
    let mut chip = chip();
    chip.flash_mut()[..4].copy_from_slice(&[1, 2, 3, 4]);
    assert_eq!(read(&mut chip, FLASH_BASE), 0x0403_0201);
    assert_eq!(read(&mut chip, 0), 0x0403_0201);
    assert_eq!(chip.fetch(0, 2), Ok(0x0403));
    // SYSCFG can select SRAM there instead.
    write(&mut chip, RCC_APB2ENR, 1);
    write(&mut chip, 0x4001_0000, 3);
    write(&mut chip, SRAM_BASE, 77);
    assert_eq!(read(&mut chip, 0), 77);
}

#[test]
fn nothing_answers_where_nothing_is() {
    let mut chip = chip();
    for address in [
        0x0001_0000,
        0x0801_0000,
        0x2000_2000,
        0x4003_0000,
        0x5000_0000,
        0xffff_fffc,
    ] {
        assert_eq!(
            chip.load(0, address, Width::Word),
            Err(BusFault { address })
        );
        let stored = chip.store(0, address, Width::Word, 0);
        assert_eq!(stored, Err(BusFault { address }));
        assert_eq!(chip.fetch(0, address), Err(BusFault { address }));
    }
    assert!(chip.fetch(0, GPIOA).is_err(), "peripherals hold no code");
    assert_eq!(
        read(&mut chip, 0x4000_0000),
        0,
        "a timer that is not modelled"
    );
}

#[test]
fn a_larger_part_has_more_of_everything() {
    let mut chip = Stm32f0::new(STM32F030RC);
    assert_eq!(chip.load(0, 0x0803_fffc, Width::Word), Ok(u32::MAX));
    assert_eq!(chip.load(0, 0x1fff_f7cc, Width::Half), Ok(256));
    assert_eq!(chip.load(0, 0x4001_5800, Width::Word), Ok(0x2000_6442));
    assert!(chip.load(0, 0x2000_7ffc, Width::Word).is_ok());
}

#[test]
fn a_port_without_a_clock_is_deaf() {
    let mut chip = chip();
    write(&mut chip, GPIOA, 0x2800_0001);
    assert!(!chip.has_output());
    write(&mut chip, RCC_AHBENR, 1 << 17);
    assert_eq!(read(&mut chip, GPIOA), 0x2800_0000);
    write(&mut chip, GPIOA, 0x2800_0001);
    let change = chip.take_change().unwrap();
    assert_eq!(
        (change.pin, change.drive),
        (Pin::new(Port::A, 0), Drive::Low)
    );
}

#[test]
fn narrow_accesses_reach_their_part_of_a_register() {
    let mut chip = chip();
    write(&mut chip, RCC_AHBENR, 1 << 17);
    chip.store(0, GPIOA + 1, Width::Byte, 0x55).unwrap();
    assert_eq!(read(&mut chip, GPIOA), 0x2800_5500);
    assert_eq!(chip.load(0, GPIOA + 2, Width::Half), Ok(0x2800));
}

/// USART1 on PA9 and PA10 at 8 MHz / 69, transmitter and receiver on.
fn chip_with_usart() -> Stm32f0 {
    let mut chip = chip();
    write(&mut chip, RCC_AHBENR, 1 << 17);
    write(&mut chip, RCC_APB2ENR, 1 << 14);
    write(&mut chip, GPIOA + 0x24, 0x110);
    write(&mut chip, GPIOA, 0x2828_0000);
    write(&mut chip, USART1 + 0xc, 69);
    write(&mut chip, USART1, 1 | 1 << 2 | 1 << 3 | 1 << 5);
    let idle = chip.take_change().unwrap();
    assert_eq!((idle.pin, idle.drive), (Pin::new(Port::A, 9), Drive::High));
    chip
}

#[test]
fn a_byte_leaves_on_its_pin_at_the_right_instants() {
    let mut chip = chip_with_usart();
    chip.store(0, USART1 + 0x28, Width::Byte, 0x0f).unwrap();
    while chip.next_event() != NEVER {
        let next = chip.next_event();
        chip.advance(next);
    }
    let edges: Vec<(u64, Drive)> = std::iter::from_fn(|| chip.take_change())
        .map(|change| (change.at_ns, change.drive))
        .collect();
    let bit_ns = 69 * 125;
    assert_eq!(
        edges,
        [
            (0, Drive::Low),
            (bit_ns, Drive::High),
            (5 * bit_ns, Drive::Low),
            (9 * bit_ns, Drive::High)
        ]
    );
    let sent = SentWord {
        at_ns: 0,
        bit_ns,
        value: 0x0f,
    };
    assert_eq!(chip.take_sent(), [sent]);
}

#[test]
fn levels_at_its_pin_become_a_byte_and_an_interrupt() {
    let mut chip = chip_with_usart();
    let pin = Pin::new(Port::A, 10);
    chip.set_outside(0, pin, Level::High);
    for (place, bit) in [0u8, 1, 0, 0, 0, 0, 1, 0, 1, 1].iter().enumerate() {
        let now = 1000 + place as u64 * 69;
        chip.advance(now);
        let level = if *bit == 1 { Level::High } else { Level::Low };
        chip.set_outside(now, pin, level);
    }
    chip.advance(2000);
    assert_eq!(chip.interrupts(), 1 << 27);
    assert_eq!(chip.load(2000, USART1 + 0x24, Width::Byte), Ok(0xa1));
    assert_eq!(chip.interrupts(), 0);
}

fn unlock(chip: &mut Stm32f0) {
    write(chip, FPEC + 4, 0x4567_0123);
    write(chip, FPEC + 4, 0xcdef_89ab);
}

#[test]
fn programming_keeps_the_flash_busy_and_the_core_out_of_it() {
    let mut chip = chip();
    unlock(&mut chip);
    write(&mut chip, FPEC + 0x10, 1);
    chip.store(0, FLASH_BASE, Width::Half, 0x1234).unwrap();
    assert_eq!(read(&mut chip, FPEC + 0xc) & 0x21, 1, "busy");
    assert_eq!(chip.stalled_until(FLASH_BASE), 428, "53.5 us at 8 MHz");
    assert_eq!(chip.stalled_until(SRAM_BASE), 0);
    assert_eq!(chip.load(428, FPEC + 0xc, Width::Word), Ok(0x20), "done");
    let wide = chip.store(500, FLASH_BASE + 4, Width::Word, 0);
    assert!(wide.is_err(), "only half words are programmed");
}

#[test]
fn a_half_word_can_be_zeroed_but_not_changed() {
    let mut chip = chip();
    unlock(&mut chip);
    write(&mut chip, FPEC + 0x10, 1);
    chip.store(0, FLASH_BASE, Width::Half, 0x1234).unwrap();
    chip.store(1000, FLASH_BASE, Width::Half, 0x1230).unwrap();
    assert_eq!(chip.load(2000, FPEC + 0xc, Width::Word), Ok(0x24), "PGERR");
    chip.store(2000, FLASH_BASE, Width::Half, 0).unwrap();
    assert_eq!(chip.flash()[..2], [0, 0]);
}

#[test]
fn write_protected_pages_stay() {
    let mut chip = chip();
    unlock(&mut chip);
    write(&mut chip, FPEC + 8, 0x4567_0123);
    write(&mut chip, FPEC + 8, 0xcdef_89ab);
    write(&mut chip, FPEC + 0x10, 0x210);
    // The option byte for the first 32 KiB: protect the second 4 KiB. It must be erased first.
    chip.store(0, 0x1fff_f808, Width::Half, 0xfd).unwrap();
    assert_eq!(read(&mut chip, FPEC + 0xc) & 4, 4, "not erased");
    write(&mut chip, FPEC + 0xc, 4);
    write(&mut chip, FPEC + 0x10, 0x220);
    write(&mut chip, FPEC + 0x10, 0x260);
    write(&mut chip, FPEC + 0x10, 0x210);
    for (place, byte) in [0xaa, 0xff, 0xff, 0xff, 0xfd, 0xff, 0xff, 0xff]
        .into_iter()
        .enumerate()
    {
        let address = 0x1fff_f800 + 2 * u32::try_from(place).unwrap();
        chip.store(0, address, Width::Half, byte).unwrap();
    }
    write(&mut chip, FPEC + 0x10, 0x2200);
    assert!(chip.takes_option_launch());
    chip.reset(0, ResetCause::OptionLoader);
    assert_eq!(read(&mut chip, FPEC + 0x20), 0xffff_fffd);
    unlock(&mut chip);
    write(&mut chip, FPEC + 0x10, 1);
    chip.store(0, FLASH_BASE + 0x1000, Width::Half, 1).unwrap();
    assert_eq!(read(&mut chip, FPEC + 0xc) & 0x10, 0x10, "WRPRTERR");
    assert_eq!(chip.flash()[0x1000], 0xff);
    chip.store(0, FLASH_BASE, Width::Half, 1).unwrap();
    assert_eq!(chip.flash()[0], 1);
}

#[test]
fn a_bench_in_a_hurry_gets_a_fast_flash() {
    let mut chip = chip();
    chip.set_flash_times(FlashTimes {
        program_ns: 125,
        erase_ns: 1_000,
    });
    unlock(&mut chip);
    write(&mut chip, FPEC + 0x10, 1);
    chip.store(0, FLASH_BASE, Width::Half, 0x1234).unwrap();
    assert_eq!(chip.stalled_until(FLASH_BASE), 1);
    write(&mut chip, FPEC + 0x10, 4);
    write(&mut chip, FPEC + 0x10, 0x44);
    assert_eq!(chip.stalled_until(FLASH_BASE), 1 + 8);
    assert_eq!(chip.flash()[0], 0xff);
}
