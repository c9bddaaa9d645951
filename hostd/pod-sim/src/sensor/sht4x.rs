//! SHT4x: commands answered by two words, each with its CRC (data sheet SHT4x, 4.4 to 4.6).

use super::model::{Model, Param, stored};
use super::registers::{Image, Registers};

pub(crate) static MODEL: Model = Model {
    name: "sht4x",
    label: "Sensirion SHT4x",
    addr: 0x44,
    alt_addr: 0x45,
    params: &[
        Param {
            key: "temperature_c",
            unit: "C",
            min: -40.0,
            max: 125.0,
            default: 25.0,
        },
        Param {
            key: "humidity_pct",
            unit: "%",
            min: 0.0,
            max: 100.0,
            default: 40.0,
        },
    ],
    power_on,
    measure,
    written: stored,
    seen,
};

/// Commands that measure: three repeatabilities, then six heater pulses. If the answers of two
/// commands overlap in the registers, the registers show the later one's.
const MEASURING: [u8; 9] = [0xfd, 0xf6, 0xe0, 0x15, 0x1e, 0x24, 0x2f, 0x32, 0x39];
const SERIAL: u8 = 0x89;
const SERIAL_WORDS: [u16; 2] = [0x0f4b, 0x91a6];

const ANSWER_BYTES: u8 = 6;

fn power_on() -> Image {
    let mut image = [0; 256];
    place(&mut image, SERIAL, answer(SERIAL_WORDS));
    image
}

fn measure(image: &mut Image, values: &[f64]) {
    let temperature = word((values[0] + 45.0) / 175.0);
    let humidity = word((values[1] + 6.0) / 125.0);
    for command in MEASURING {
        place(image, command, answer([temperature, humidity]));
    }
}

/// Within the answer to the last command, returns that answer; elsewhere the registers.
fn seen(registers: &Registers, reg: u8, _: u64) -> u8 {
    let command = registers.command();
    let offset = reg.wrapping_sub(command);
    // No other answer overlaps the one to the first command.
    let source = match MEASURING.contains(&command) && offset < ANSWER_BYTES {
        true => MEASURING[0].wrapping_add(offset),
        false => reg,
    };
    registers.image()[usize::from(source)]
}

fn place(image: &mut Image, command: u8, bytes: [u8; 6]) {
    for (offset, byte) in (0_u8..).zip(bytes) {
        image[usize::from(command.wrapping_add(offset))] = byte;
    }
}

fn answer([first, second]: [u16; 2]) -> [u8; 6] {
    let [a, b] = first.to_be_bytes();
    let [c, d] = second.to_be_bytes();
    [a, b, crc8([a, b]), c, d, crc8([c, d])]
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a fraction of 0 to 1 of the largest word"
)]
fn word(fraction: f64) -> u16 {
    (fraction * 65_535.0).round() as u16
}

/// CRC-8 with the polynomial 0x31 and the initial value 0xFF.
fn crc8(bytes: [u8; 2]) -> u8 {
    bytes.into_iter().fold(0xff, |crc, byte| {
        (0..8).fold(crc ^ byte, |crc, _| match crc & 0x80 {
            0 => crc << 1,
            _ => crc << 1 ^ 0x31,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_sheets_checksum_comes_out() {
        assert_eq!(crc8([0xbe, 0xef]), 0x92);
    }

    #[test]
    fn every_command_answers_what_was_set_with_its_checksums() {
        let mut registers = Registers::new(&MODEL);
        registers.set_values(vec![-12.5, 63.0]);
        for command in MEASURING {
            registers.begin_write();
            registers.write(command, 0);
            let bytes: Vec<u8> = (0..6).map(|_| registers.read(0)).collect();
            let raw = |at: usize| f64::from(u16::from_be_bytes([bytes[at], bytes[at + 1]]));
            assert!((-45.0 + 175.0 * raw(0) / 65_535.0 + 12.5).abs() < 0.01);
            assert!((-6.0 + 125.0 * raw(3) / 65_535.0 - 63.0).abs() < 0.01);
            assert_eq!(bytes[2], crc8([bytes[0], bytes[1]]));
            assert_eq!(bytes[5], crc8([bytes[3], bytes[4]]));
        }
        registers.begin_write();
        registers.write(SERIAL, 0);
        let serial: Vec<u8> = (0..6).map(|_| registers.read(0)).collect();
        assert_eq!(serial, answer(SERIAL_WORDS));
    }
}
