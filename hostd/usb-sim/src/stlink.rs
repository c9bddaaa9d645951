//! A simulated ST-Link V2-1: a debug probe that is told which register of a target to read or write.
//!
//! It has the commands that open it and those for registers, not those for memory.

use std::collections::HashSet;

use super::bus::{Answer, Bus, Device, Setup};
use super::descriptors::{Descriptors, Endpoint, Interface, Speed};
use super::endpoint::{Input, Output};
use super::wires::{Refusal, Registers};

/// ST's number, and that of an ST-Link V2-1.
pub const IDS: (u16, u16) = (0x0483, 0x374B);

/// The endpoints, without direction: commands and answers, and what a target tells by itself.
const COMMANDS: u8 = 1;
const TRACE: u8 = 2;

/// Bytes of a command.
const COMMAND_BYTES: usize = 16;

const GET_VERSION: u8 = 0xF1;
const DEBUG: u8 = 0xF2;
const GET_CURRENT_MODE: u8 = 0xF5;
const GET_TARGET_VOLTAGE: u8 = 0xF7;

/// Commands after `DEBUG`.
const EXIT: u8 = 0x21;
const ENTER: u8 = 0x30;
const DRIVE_NRST: u8 = 0x3C;
const SET_SWD_CLOCK: u8 = 0x43;
const READ_REGISTER: u8 = 0x45;
const WRITE_REGISTER: u8 = 0x46;
const OPEN_PORT: u8 = 0x4B;
const CLOSE_PORT: u8 = 0x4C;

const ENTER_SWD: u8 = 0xA3;

const NRST_LOW: u8 = 0;
const NRST_HIGH: u8 = 1;

/// Stands for the debug port among the numbers of access ports.
const DEBUG_PORT: u16 = 0xFFFF;

/// Modes: a disk, and debugging.
const MASS_STORAGE: u8 = 1;
const DEBUGGING: u8 = 2;

/// V2J40M27.
const VERSION: u16 = 2 << 12 | 40 << 6 | 27;

/// A reference of 1.2 V and half of the target's voltage, in steps of the converter: 3.3 V.
const REFERENCE: u32 = 1489;
const HALF_OF_TARGET: u32 = 2047;

const OK: u8 = 0x80;
const NO_DEVICE: u8 = 0x05;
const IDENTIFICATION_FAILED: u8 = 0x09;
const PORT_WAIT: u8 = 0x10;
const PORT_FAULT: u8 = 0x11;
const DEBUG_PORT_WAIT: u8 = 0x14;
const DEBUG_PORT_FAULT: u8 = 0x15;
const PORT_NOT_OPEN: u8 = 0x1D;
const UNKNOWN_COMMAND: u8 = 0x42;

/// A simulated ST-Link.
#[derive(Debug)]
pub struct StLink<R> {
    serial: String,
    /// None once it was plugged in.
    registers: Option<R>,
}

impl<R: Registers> StLink<R> {
    /// One with this serial number, on wires to a target.
    pub fn new(serial: &str, registers: R) -> Self {
        Self {
            serial: serial.to_owned(),
            registers: Some(registers),
        }
    }
}

impl<R: Registers> Device for StLink<R> {
    fn descriptors(&self) -> Descriptors {
        Descriptors {
            ids: IDS,
            version: 0x0100,
            class: (0, 0, 0),
            manufacturer: "STMicroelectronics (simulated)".to_owned(),
            product: "STM32 STLink".to_owned(),
            serial: Some(self.serial.clone()),
            speed: Speed::Full,
            interfaces: vec![Interface {
                class: (0xFF, 0xFF, 0xFF),
                name: Some("ST Link".to_owned()),
                endpoints: vec![
                    Endpoint::Bulk(COMMANDS | 0x80),
                    Endpoint::Bulk(COMMANDS),
                    Endpoint::Bulk(TRACE | 0x80),
                ],
                ..Interface::default()
            }],
        }
    }

    fn start(&mut self, bus: &mut Bus) {
        let (output, input) = (bus.output(COMMANDS), bus.message_input(COMMANDS));
        // Nothing is traced.
        drop(bus.message_input(TRACE));
        if let Some(registers) = self.registers.take() {
            let probe = Probe {
                registers,
                mode: MASS_STORAGE,
                open_ports: HashSet::new(),
            };
            tokio::spawn(probe.serve(output, input));
        }
    }

    fn control<'a>(&'a mut self, _: Setup, _: &'a [u8]) -> Answer<'a> {
        Box::pin(async { None })
    }
}

/// The firmware.
struct Probe<R> {
    registers: R,
    mode: u8,
    /// The access ports that may be used, until it enters debugging again.
    open_ports: HashSet<u8>,
}

impl<R: Registers> Probe<R> {
    /// Serves commands, each in a transfer of its own, until it is unplugged.
    async fn serve(mut self, mut output: Output, mut input: Input) {
        while let Ok(command) = output.receive().await {
            let Ok(command) = <[u8; COMMAND_BYTES]>::try_from(command) else {
                continue;
            };
            let answer = self.answer(command).await;
            if !answer.is_empty() && input.send(&answer).await.is_err() {
                return;
            }
        }
    }

    async fn answer(&mut self, command: [u8; COMMAND_BYTES]) -> Vec<u8> {
        match command {
            [GET_VERSION, ..] => {
                let [vendor, product] = [IDS.0, IDS.1].map(u16::to_le_bytes);
                [VERSION.to_be_bytes(), vendor, product].concat()
            }
            [GET_CURRENT_MODE, ..] => vec![self.mode, 0],
            [GET_TARGET_VOLTAGE, ..] => [REFERENCE, HALF_OF_TARGET].map(u32::to_le_bytes).concat(),
            [DEBUG, EXIT, ..] => {
                self.mode = MASS_STORAGE;
                Vec::new()
            }
            [DEBUG, ENTER, ENTER_SWD, ..] => {
                self.mode = DEBUGGING;
                self.open_ports.clear();
                let answers = self.registers.enter().await;
                vec![if answers { OK } else { IDENTIFICATION_FAILED }, 0]
            }
            [DEBUG, SET_SWD_CLOCK, ..] => vec![OK, 0],
            [DEBUG, OPEN_PORT, port, ..] => {
                self.open_ports.insert(port);
                vec![OK, 0]
            }
            [DEBUG, CLOSE_PORT, port, ..] => {
                self.open_ports.remove(&port);
                vec![OK, 0]
            }
            [DEBUG, DRIVE_NRST, level, ..] => {
                if level != NRST_HIGH {
                    self.registers.set_reset(true).await;
                }
                if level != NRST_LOW {
                    self.registers.set_reset(false).await;
                }
                vec![OK, 0]
            }
            [DEBUG, READ_REGISTER, low, high, address, ..] if self.mode == DEBUGGING => {
                let port = port([low, high]);
                if port.is_some_and(|port| !self.open_ports.contains(&port)) {
                    return vec![PORT_NOT_OPEN, 0, 0, 0, 0, 0, 0, 0];
                }
                let read = self.registers.read(port, address).await;
                let value = read.unwrap_or_default();
                let status = read.map_or_else(|refusal| status(port, refusal), |_| OK);
                [[status, 0, 0, 0], value.to_le_bytes()].concat()
            }
            [DEBUG, WRITE_REGISTER, low, high, address, _, a, b, c, d, ..]
                if self.mode == DEBUGGING =>
            {
                let (port, data) = (port([low, high]), u32::from_le_bytes([a, b, c, d]));
                if port.is_some_and(|port| !self.open_ports.contains(&port)) {
                    return vec![PORT_NOT_OPEN, 0];
                }
                let written = self.registers.write(port, address, data).await;
                vec![
                    written.map_or_else(|refusal| status(port, refusal), |()| OK),
                    0,
                ]
            }
            _ => vec![UNKNOWN_COMMAND, 0],
        }
    }
}

/// The number of an access port; none for the debug port.
fn port(bytes: [u8; 2]) -> Option<u8> {
    match u16::from_le_bytes(bytes) {
        DEBUG_PORT => None,
        _ => Some(bytes[0]),
    }
}

fn status(port: Option<u8>, refusal: Refusal) -> u8 {
    match (refusal, port.is_some()) {
        (Refusal::Wait, true) => PORT_WAIT,
        (Refusal::Wait, false) => DEBUG_PORT_WAIT,
        (Refusal::Fault, true) => PORT_FAULT,
        (Refusal::Fault, false) => DEBUG_PORT_FAULT,
        (Refusal::Silence, _) => NO_DEVICE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Later;

    /// A target whose access port 0 has one register that counts, and whose debug port refuses everything.
    struct Target(u32);

    impl Registers for Target {
        fn enter(&mut self) -> Later<'_, bool> {
            Box::pin(async { true })
        }

        fn read(&mut self, port: Option<u8>, _: u8) -> Later<'_, Result<u32, Refusal>> {
            self.0 += 1;
            Box::pin(async move { port.map(|_| self.0).ok_or(Refusal::Fault) })
        }

        fn write(&mut self, _: Option<u8>, _: u8, data: u32) -> Later<'_, Result<(), Refusal>> {
            self.0 = data;
            Box::pin(async { Ok(()) })
        }

        fn set_reset(&mut self, _: bool) -> Later<'_, ()> {
            Box::pin(async {})
        }
    }

    #[tokio::test]
    async fn access_ports_are_to_be_opened_each_time() {
        let mut probe = Probe {
            registers: Target(6),
            mode: MASS_STORAGE,
            open_ports: HashSet::new(),
        };
        let mut answers = Vec::new();
        let commands: [&[u8]; 10] = [
            &[DEBUG, READ_REGISTER, 0, 0, 0],
            &[DEBUG, ENTER, ENTER_SWD],
            &[DEBUG, READ_REGISTER, 0, 0, 0],
            &[DEBUG, OPEN_PORT, 0],
            &[DEBUG, READ_REGISTER, 0, 0, 0],
            &[DEBUG, READ_REGISTER, 0xFF, 0xFF, 4],
            &[DEBUG, WRITE_REGISTER, 0, 0, 0, 0, 40, 0, 0, 0],
            &[DEBUG, READ_REGISTER, 0, 0, 0],
            &[DEBUG, ENTER, ENTER_SWD],
            &[DEBUG, WRITE_REGISTER, 0, 0, 0, 0, 1, 0, 0, 0],
        ];
        for bytes in commands {
            let mut command = [0; COMMAND_BYTES];
            command[..bytes.len()].copy_from_slice(bytes);
            answers.push(probe.answer(command).await);
        }
        let expected: [&[u8]; 10] = [
            &[UNKNOWN_COMMAND, 0],
            &[OK, 0],
            &[PORT_NOT_OPEN, 0, 0, 0, 0, 0, 0, 0],
            &[OK, 0],
            &[OK, 0, 0, 0, 7, 0, 0, 0],
            &[DEBUG_PORT_FAULT, 0, 0, 0, 0, 0, 0, 0],
            &[OK, 0],
            &[OK, 0, 0, 0, 41, 0, 0, 0],
            &[OK, 0],
            &[PORT_NOT_OPEN, 0],
        ];
        assert_eq!(answers, expected);
    }
}
