//! A simulated target's configuration: what it is and where its pins go.

use std::sync::Arc;

use target_sim::chip::{FLASH_BASE, Part, Pin, Port, STM32F030R8};
use target_sim::firmware::{FirmwareError, demo_elf, load_elf};
use target_sim::target::Target;
use tokio::time::Duration;

use super::pins::bit;

/// Current of everything on the board except the chip.
const BOARD_UA: u32 = 30_000;

/// The channels that a target's pins are wired to. Its reset pin is wired to the pod's reset line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TargetWiring {
    /// Debug clock (PA14).
    pub swclk: u8,
    /// Debug data (PA13).
    pub swdio: u8,
    /// Output of the target's UART (PA9).
    pub tx: u8,
    /// Input of the target's UART (PA10).
    pub rx: u8,
    /// I2C clock (PB8).
    pub scl: u8,
    /// I2C data (PB9).
    pub sda: u8,
    /// The LED (PA5), lit when high.
    pub lamp: u8,
    /// The rail that supplies it, 1 or 2.
    pub rail: u8,
}

impl Default for TargetWiring {
    fn default() -> Self {
        Self {
            swclk: 11,
            swdio: 12,
            tx: 3,
            rx: 4,
            scl: 1,
            sda: 2,
            lamp: 13,
            rail: 1,
        }
    }
}

impl TargetWiring {
    /// The pins whose levels matter to both sides, with their channels.
    pub(crate) fn pins(&self) -> [(Pin, u8); 5] {
        [
            (Pin::new(Port::A, 9), self.tx),
            (Pin::new(Port::A, 10), self.rx),
            (Pin::new(Port::B, 8), self.scl),
            (Pin::new(Port::B, 9), self.sda),
            (Pin::new(Port::A, 5), self.lamp),
        ]
    }

    pub(crate) fn channels(&self) -> u16 {
        let channels = self.pins().into_iter();
        channels.fold(0, |all, (_, la)| all | bit(la))
    }
}

/// What is in a target's flash at first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Program {
    /// Nothing: it is erased.
    #[default]
    Erased,
    /// The demo application for the part: a console at 115200 baud and a BMP280 on I2C.
    Demo,
    /// These bytes, from the first byte on; the rest is erased.
    Image(Arc<[u8]>),
}

/// A simulated target: a microcontroller on a small board.
#[derive(Debug, Clone)]
pub struct TargetConfig {
    /// Where its pins go.
    pub wiring: TargetWiring,
    /// Current of the board without the chip, in µA.
    pub board_ua: u32,
    /// Time from power-on until a debug probe gets an answer.
    pub swd_delay: Duration,
    /// Which microcontroller it is.
    pub part: Part,
    /// It has read protection level 1: a debugger can see neither its flash nor what is in it.
    pub is_locked: bool,
    /// Address of a half word of the flash that stays erased whatever is programmed.
    pub worn: Option<u32>,
    /// The initial contents of its flash.
    pub program: Program,
}

impl TargetConfig {
    /// A new board: its flash is erased.
    pub fn blank() -> Self {
        Self {
            wiring: TargetWiring::default(),
            board_ua: BOARD_UA,
            swd_delay: Duration::ZERO,
            part: STM32F030R8,
            is_locked: false,
            worn: None,
            program: Program::Erased,
        }
    }

    /// The demo application, under read protection.
    pub fn locked() -> Self {
        Self {
            is_locked: true,
            ..Self::demo()
        }
    }

    /// The target before its first power-on.
    pub(crate) fn make(&self) -> Target {
        let mut target = Target::new(self.part);
        let chip = target.chip();
        match &self.program {
            Program::Erased => {}
            Program::Demo => {
                load_elf(chip, demo_elf(&self.part)).expect("the demo fits the part it is for");
            }
            Program::Image(image) => {
                let cells = chip.flash_mut().iter_mut();
                cells
                    .zip(image.iter())
                    .for_each(|(cell, byte)| *cell = *byte);
            }
        }
        if self.is_locked {
            chip.protect_from_reading();
        }
        if let Some(address) = self.worn {
            chip.wear_out(address.wrapping_sub(FLASH_BASE));
        }
        target
    }

    /// A board with the demo application.
    pub fn demo() -> Self {
        Self {
            program: Program::Demo,
            ..Self::blank()
        }
    }

    /// A board with the given program, an ELF file, in this part.
    ///
    /// # Errors
    /// If the file is invalid or does not fit the part.
    pub fn flashed(part: Part, elf: &[u8]) -> Result<Self, FirmwareError> {
        let mut target = Target::new(part);
        load_elf(target.chip(), elf)?;
        Ok(Self {
            part,
            program: Program::Image(target.chip().flash().into()),
            ..Self::blank()
        })
    }
}
