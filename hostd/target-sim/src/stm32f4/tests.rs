//! The chip as software sees it: the map, flash with its controller, the serial port, the I2C controller.

use super::*;
use crate::bus::NEVER;
use crate::chip::{Drive, Port, STM32F446RE};

const AHB1ENR: u32 = 0x4002_3830;
const APB1ENR: u32 = 0x4002_3840;
const APB2ENR: u32 = 0x4002_3844;
const GPIOA: u32 = 0x4002_0000;
const GPIOB: u32 = 0x4002_0400;
const USART1: u32 = 0x4001_1000;
const I2C1: u32 = 0x4000_5400;
const FLASH: u32 = 0x4002_3c00;

fn chip() -> Stm32f4 {
    let mut chip = Stm32f4::new(STM32F446RE);
    chip.reset(0, ResetCause::Power);
    while chip.take_change().is_some() {}
    chip
}

fn write(chip: &mut Stm32f4, address: u32, value: u32) {
    chip.store(0, address, Width::Word, value).unwrap();
}

fn read(chip: &mut Stm32f4, address: u32) -> u32 {
    chip.load(0, address, Width::Word).unwrap()
}

#[test]
fn it_is_an_stm32f446_with_its_memory() {
    let mut chip = chip();
    assert_eq!(read(&mut chip, 0xe004_2000) & 0xfff, 0x421);
    assert_eq!(chip.load(0, 0x1fff_7a22, Width::Half), Ok(512));
    chip.flash_mut()[..4].copy_from_slice(&[1, 2, 3, 4]);
    assert_eq!(
        read(&mut chip, 0),
        0x0403_0201,
        "the flash lies at zero, too"
    );
    assert!(chip.load(0, 0x0807_fffc, Width::Word).is_ok());
    assert!(chip.load(0, 0x2001_fffc, Width::Word).is_ok());
    for address in [0x0808_0000, 0x2002_0000, 0x4001_7000, 0x6000_0000] {
        let fault = Err(BusFault { address });
        assert_eq!(chip.load(0, address, Width::Word), fault);
        assert!(chip.fetch(0, address).is_err());
    }
    assert!(chip.fetch(0, GPIOA).is_err(), "peripherals hold no code");
    // SYSCFG can select SRAM at zero instead.
    write(&mut chip, APB2ENR, 1 << 14);
    write(&mut chip, 0x4001_3800, 3);
    write(&mut chip, SRAM_BASE, 77);
    assert_eq!(read(&mut chip, 0), 77);
}

fn unlock(chip: &mut Stm32f4) {
    write(chip, FLASH + 4, 0x4567_0123);
    write(chip, FLASH + 4, 0xcdef_89ab);
}

fn status(chip: &mut Stm32f4, now: u64) -> u32 {
    chip.load(now, FLASH + 0xc, Width::Word).unwrap()
}

#[test]
fn programming_takes_its_time_and_clears_bits_only() {
    let mut chip = chip();
    unlock(&mut chip);
    write(&mut chip, FLASH + 0x10, 1 | 2 << 8);
    chip.store(0, FLASH_BASE, Width::Word, 0xffff_1234).unwrap();
    assert_eq!(status(&mut chip, 0), 1 << 16, "busy");
    assert_eq!(chip.stalled_until(FLASH_BASE), 256, "16 us at 16 MHz");
    assert_eq!(chip.stalled_until(SRAM_BASE), 0);
    assert_eq!(status(&mut chip, 256), 0);
    chip.store(300, FLASH_BASE, Width::Word, 0x4321_ffff)
        .unwrap();
    assert_eq!(read(&mut chip, FLASH_BASE), 0x4321_1234);
    // Wider or narrower than it is set up for: parallelism error.
    chip.store(900, FLASH_BASE + 8, Width::Half, 0).unwrap();
    assert_eq!(status(&mut chip, 2000), 1 << 6);
    write(&mut chip, FLASH + 0xc, 1 << 6);
    // Without the programming bit: sequence error.
    write(&mut chip, FLASH + 0x10, 2 << 8);
    chip.store(2000, FLASH_BASE + 8, Width::Word, 0).unwrap();
    assert_eq!(status(&mut chip, 2000), 1 << 7);
    assert_eq!(read(&mut chip, FLASH_BASE + 8), u32::MAX);
}

#[test]
fn sectors_are_erased_one_by_one_and_may_be_protected() {
    let mut chip = chip();
    chip.flash_mut().fill(0);
    let erase = |chip: &mut Stm32f4, bits: u32| write(chip, FLASH + 0x10, bits | 1 << 16);
    erase(&mut chip, 2 | 1 << 3);
    assert_eq!(chip.flash()[0x4000], 0, "locked");
    unlock(&mut chip);
    erase(&mut chip, 2 | 4 << 3);
    let flash = chip.flash();
    assert_eq!(
        (
            flash[0xffff],
            flash[0x1_0000],
            flash[0x1_ffff],
            flash[0x2_0000]
        ),
        (0, 0xff, 0xff, 0)
    );
    // 64 KiB take twice as long as 16 KiB.
    assert_eq!(chip.stalled_until(FLASH_BASE), 8_000_000);
    // Sector 2 becomes write-protected.
    write(&mut chip, FLASH + 8, 0x0819_2a3b);
    write(&mut chip, FLASH + 8, 0x4c5d_6e7f);
    let options = read(&mut chip, FLASH + 0x14);
    write(&mut chip, FLASH + 0x14, options & !(1 << 18) | 2);
    erase(&mut chip, 2 | 2 << 3);
    assert_eq!(status(&mut chip, NEVER) & 1 << 4, 1 << 4);
    assert_eq!(chip.flash()[0x8000], 0);
    write(&mut chip, FLASH + 0xc, 1 << 4);
    write(&mut chip, FLASH + 0x14, options | 2);
    erase(&mut chip, 4);
    assert!(chip.flash().iter().all(|byte| *byte == 0xff));
}

#[test]
fn read_protection_goes_only_with_the_contents() {
    let mut chip = chip();
    chip.flash_mut()[0] = 0;
    chip.protect_from_reading();
    assert!(chip.hides(FLASH_BASE) && chip.hides(0) && !chip.hides(SRAM_BASE));
    write(&mut chip, FLASH + 8, 0x0819_2a3b);
    write(&mut chip, FLASH + 8, 0x4c5d_6e7f);
    let options = read(&mut chip, FLASH + 0x14) & !0xff00 & !1;
    write(&mut chip, FLASH + 0x14, options | 0xaa00 | 2);
    assert!(!chip.is_read_protected());
    assert_eq!(chip.flash()[0], 0xff);
}

#[test]
fn a_wrong_key_locks_the_controller_until_a_reset() {
    let mut chip = chip();
    assert!(chip.store(0, FLASH + 4, Width::Word, 1).is_err());
    assert!(chip.store(0, FLASH + 4, Width::Word, 0x4567_0123).is_err());
    chip.reset(0, ResetCause::Pin);
    unlock(&mut chip);
    assert_eq!(read(&mut chip, FLASH + 0x10) >> 31, 0);
}

#[test]
fn a_byte_leaves_on_its_pin_and_another_comes_in() {
    let mut chip = chip();
    write(&mut chip, AHB1ENR, 1);
    write(&mut chip, APB2ENR, 1 << 4);
    write(&mut chip, GPIOA + 0x24, 0x770);
    write(&mut chip, GPIOA, 0xa828_0000);
    write(&mut chip, USART1 + 8, 139);
    write(&mut chip, USART1 + 0xc, 1 << 13 | 1 << 2 | 1 << 3 | 1 << 5);
    let idle = chip.take_change().unwrap();
    assert_eq!((idle.pin, idle.drive), (Pin::new(Port::A, 9), Drive::High));
    chip.store(0, USART1 + 4, Width::Byte, 0x0f).unwrap();
    assert_eq!(read(&mut chip, USART1) & 0xc0, 0x80, "room for another");
    while chip.next_event() != NEVER {
        let next = chip.next_event();
        chip.advance(next);
    }
    let changes = std::iter::from_fn(|| chip.take_change());
    let edges: Vec<Drive> = changes.map(|change| change.drive).collect();
    assert_eq!(edges, [Drive::Low, Drive::High, Drive::Low, Drive::High]);
    assert_eq!(chip.take_sent()[0].value, 0x0f);
    let pin = Pin::new(Port::A, 10);
    for (place, bit) in [1u8, 0, 1, 0, 0, 0, 0, 1, 0, 1, 1].iter().enumerate() {
        let now = 10_000 + place as u64 * 139;
        chip.advance(now);
        let level = if *bit == 1 { Level::High } else { Level::Low };
        chip.set_outside(now, pin, level);
    }
    chip.advance(12_000);
    assert_eq!(chip.interrupts(), 1 << 37);
    assert_eq!(chip.load(12_000, USART1 + 4, Width::Byte), Ok(0xa1));
    assert_eq!(chip.interrupts(), 0);
}

#[test]
fn a_start_and_an_address_without_an_answer() {
    let mut chip = chip();
    write(&mut chip, AHB1ENR, 2);
    write(&mut chip, APB1ENR, 1 << 21);
    write(&mut chip, GPIOB + 4, 3 << 8);
    write(&mut chip, GPIOB + 0x24, 0x44);
    write(&mut chip, GPIOB, 0xa_0280);
    for number in [8, 9] {
        chip.set_outside(0, Pin::new(Port::B, number), Level::High);
    }
    write(&mut chip, I2C1 + 0x1c, 80);
    write(&mut chip, I2C1 + 4, 16 | 1 << 8 | 1 << 9);
    write(&mut chip, I2C1, 1);
    assert_eq!(read(&mut chip, I2C1 + 0x18), 0, "the bus is free");
    write(&mut chip, I2C1, 1 | 1 << 8);
    chip.advance(1_000);
    assert_eq!(chip.interrupts(), 1 << 31, "started");
    chip.store(1_000, I2C1 + 0x10, Width::Word, 0xec).unwrap();
    assert_eq!(chip.interrupts(), 0);
    chip.advance(1_000 + 9 * 160);
    assert_eq!(chip.interrupts(), 1 << 32, "nobody answers");
    chip.store(3_000, I2C1 + 0x14, Width::Word, 0).unwrap();
    chip.store(3_000, I2C1, Width::Word, 1 | 1 << 9).unwrap();
    chip.advance(4_000);
    assert_eq!(chip.load(4_000, I2C1 + 0x18, Width::Word), Ok(0), "stopped");
    assert_eq!(chip.next_event(), NEVER);
}
