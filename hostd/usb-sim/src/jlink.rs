//! A simulated J-Link: a debug probe that is given bits for the wires of SWD, with the direction of each.
//!
//! It knows the commands with which drivers open one, and those of SWD; others it leaves unanswered.

use super::bus::{Answer, Bus, Device, Setup};
use super::descriptors::{Descriptors, Endpoint, Interface, Speed};
use super::endpoint::{Input, Output};
use super::wires::Wires;

/// SEGGER's number, and that of a plain J-Link.
pub const IDS: (u16, u16) = (0x1366, 0x0101);

/// The endpoints, without direction.
const COMMANDS: u8 = 1;

const VERSION: u8 = 0x01;
const RESET_TARGET: u8 = 0x03;
const GET_STATE: u8 = 0x07;
const GET_SPEEDS: u8 = 0xC0;
const SELECT_INTERFACE: u8 = 0xC7;
const HW_JTAG3: u8 = 0xCF;
const GET_MAX_MEM_BLOCK: u8 = 0xD4;
const HW_RESET0: u8 = 0xDC;
const HW_RESET1: u8 = 0xDD;
const GET_CAPS: u8 = 0xE8;
const GET_CAPS_EX: u8 = 0xED;
const GET_HW_VERSION: u8 = 0xF0;
const READ_CONFIG: u8 = 0xF2;

/// Asks which interfaces there are, instead of selecting one.
const INTERFACES: u8 = 0xFF;
/// Bits of the interfaces JTAG and SWD, and the number of the latter.
const JTAG_AND_SWD: u32 = 0b11;
const SWD: u8 = 1;

/// It tells its hardware version, its configuration, its speeds and the size of its memory, selects interfaces, and has
/// more capabilities than fit into one word.
const CAPABILITIES: u32 = 1 | 1 << 1 | 1 << 4 | 1 << 9 | 1 << 11 | 1 << 17 | 1 << 31;

/// Bytes that it takes at once.
const BLOCK_BYTES: u32 = 16 * 1024;

const FIRMWARE: &[u8] = b"J-Link V10 (simulated) compiled Jan  1 2020\0";

/// 10.1, in decimal places.
const HARDWARE: u32 = 10_10_00;

/// Its clock, and by what it is divided at least.
const BASE_HZ: u32 = 48_000_000;
const DIVIDER_MIN: u16 = 4;

/// What it measures at the target.
const TARGET_MV: u16 = 3300;

/// What it says if bits were not clocked: that SWD is not selected.
const WRONG_INTERFACE: u8 = 0x01;

/// A simulated J-Link.
#[derive(Debug)]
pub struct JLink<W> {
    serial: String,
    /// None once it was plugged in.
    wires: Option<W>,
}

impl<W: Wires> JLink<W> {
    /// One with this serial number, on wires to a target.
    pub fn new(serial: &str, wires: W) -> Self {
        Self {
            serial: serial.to_owned(),
            wires: Some(wires),
        }
    }
}

impl<W: Wires> Device for JLink<W> {
    fn descriptors(&self) -> Descriptors {
        Descriptors {
            ids: IDS,
            version: 0x0100,
            class: (0, 0, 0),
            manufacturer: "SEGGER (simulated)".to_owned(),
            product: "J-Link".to_owned(),
            serial: Some(self.serial.clone()),
            speed: Speed::Full,
            interfaces: vec![Interface {
                class: (0xFF, 0xFF, 0xFF),
                endpoints: vec![Endpoint::Bulk(COMMANDS | 0x80), Endpoint::Bulk(COMMANDS)],
                ..Interface::default()
            }],
        }
    }

    fn start(&mut self, bus: &mut Bus) {
        let (output, input) = (bus.output(COMMANDS), bus.message_input(COMMANDS));
        if let Some(wires) = self.wires.take() {
            let probe = Probe {
                wires,
                interface: 0,
            };
            tokio::spawn(probe.serve(output, input));
        }
    }

    fn control<'a>(&'a mut self, _: Setup, _: &'a [u8]) -> Answer<'a> {
        Box::pin(async { None })
    }
}

/// The firmware.
struct Probe<W> {
    wires: W,
    /// The number of the selected interface.
    interface: u8,
}

impl<W: Wires> Probe<W> {
    /// Serves commands, each in a transfer of its own, until it is unplugged.
    async fn serve(mut self, mut output: Output, mut input: Input) {
        while let Ok(command) = output.receive().await {
            for message in self.answer(&command).await {
                if input.send(&message).await.is_err() {
                    return;
                }
            }
        }
    }

    /// What it sends, each a transfer.
    async fn answer(&mut self, command: &[u8]) -> Vec<Vec<u8>> {
        let word = |word: u32| vec![word.to_le_bytes().to_vec()];
        match *command {
            [VERSION] => {
                let length = u16::try_from(FIRMWARE.len()).unwrap_or_default();
                vec![length.to_le_bytes().to_vec(), FIRMWARE.to_vec()]
            }
            [GET_CAPS] => word(CAPABILITIES),
            [GET_CAPS_EX] => {
                let mut all = CAPABILITIES.to_le_bytes().to_vec();
                all.resize(32, 0);
                vec![all]
            }
            [GET_HW_VERSION] => word(HARDWARE),
            [GET_MAX_MEM_BLOCK] => word(BLOCK_BYTES),
            // Never written.
            [READ_CONFIG] => vec![vec![0xFF; 256]],
            [GET_SPEEDS] => {
                vec![[&BASE_HZ.to_le_bytes()[..], &DIVIDER_MIN.to_le_bytes()].concat()]
            }
            [GET_STATE] => {
                let mut state = TARGET_MV.to_le_bytes().to_vec();
                state.resize(8, 0);
                vec![state]
            }
            [SELECT_INTERFACE, INTERFACES] => word(JTAG_AND_SWD),
            [SELECT_INTERFACE, interface] => {
                let before = std::mem::replace(&mut self.interface, interface);
                word(before.into())
            }
            [HW_JTAG3, _, low, high, ref rest @ ..] => {
                let count = u16::from_le_bytes([low, high]);
                vec![self.clock(usize::from(count), rest).await]
            }
            [HW_RESET0] => {
                self.wires.set_reset(true).await;
                Vec::new()
            }
            [HW_RESET1] => {
                self.wires.set_reset(false).await;
                Vec::new()
            }
            [RESET_TARGET] => {
                self.wires.set_reset(true).await;
                self.wires.set_reset(false).await;
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// Clocks bits: their directions, then their levels. It samples the line with the other edge of the clock, so what it
    /// tells is one clock early, and the last one is not known.
    async fn clock(&mut self, count: usize, bytes: &[u8]) -> Vec<u8> {
        let length = count.div_ceil(8);
        let mut told = vec![0; length];
        if self.interface != SWD || bytes.len() != 2 * length {
            told.push(WRONG_INTERFACE);
            return told;
        }
        let is_set = |bytes: &[u8], place: usize| bytes[place / 8] >> (place % 8) & 1 == 1;
        let (directions, levels) = bytes.split_at(length);
        let bits = (0..count).map(|place| is_set(directions, place).then(|| is_set(levels, place)));
        let heard = self.wires.clock(bits.collect()).await;
        for (place, level) in heard.into_iter().skip(1).enumerate() {
            told[place / 8] |= u8::from(level) << (place % 8);
        }
        told.push(0);
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Later;

    /// A line whose levels are known where the probe listens.
    struct Line {
        levels: Vec<bool>,
        driven: Vec<bool>,
        resets: Vec<bool>,
    }

    impl Wires for Line {
        fn clock(&mut self, bits: Vec<Option<bool>>) -> Later<'_, Vec<bool>> {
            self.driven.extend(bits.iter().flatten());
            let levels = bits
                .into_iter()
                .map(|bit| bit.unwrap_or_else(|| self.levels.remove(0)));
            let levels = levels.collect();
            Box::pin(async { levels })
        }

        fn set_reset(&mut self, is_low: bool) -> Later<'_, ()> {
            self.resets.push(is_low);
            Box::pin(async {})
        }
    }

    #[tokio::test]
    async fn bits_are_heard_one_clock_early_once_swd_is_selected() {
        let wires = Line {
            levels: vec![true, false, false, true],
            driven: Vec::new(),
            resets: Vec::new(),
        };
        let mut probe = Probe {
            wires,
            interface: 0,
        };
        // Six bits: two driven, four heard.
        let bits = [HW_JTAG3, 0, 6, 0, 0b11, 0b10];
        assert_eq!(probe.answer(&bits).await, [[0, WRONG_INTERFACE]]);
        assert_eq!(probe.answer(&[SELECT_INTERFACE, SWD]).await, [[0; 4]]);
        assert_eq!(probe.answer(&bits).await, [[0b1_0011, 0]]);
        assert_eq!(probe.wires.driven, [false, true]);
        // Bits that are not there.
        assert_eq!(
            probe.answer(&[HW_JTAG3, 0, 9, 0, 1, 1]).await,
            [[0, 0, WRONG_INTERFACE]]
        );
        probe.answer(&[RESET_TARGET]).await;
        assert_eq!(probe.wires.resets, [true, false]);
        assert!(probe.answer(&[0x55]).await.is_empty());
    }
}
