//! MPU-6050: acceleration, angular rate and die temperature in the ranges that the target selects;
//! asleep until the target wakes it (RM-MPU-6000A).

use super::model::{Model, Param, plain};
use super::registers::{Image, Registers};

const fn acceleration(key: &'static str, default: f64) -> Param {
    Param {
        key,
        unit: "g",
        min: -16.0,
        max: 16.0,
        default,
    }
}

const fn rate(key: &'static str) -> Param {
    Param {
        key,
        unit: "dps",
        min: -2_000.0,
        max: 2_000.0,
        default: 0.0,
    }
}

pub(crate) static MODEL: Model = Model {
    name: "mpu6050",
    label: "InvenSense MPU-6050",
    addr: 0x68,
    alt_addr: 0x69,
    params: &[
        acceleration("accel_x_g", 0.0),
        acceleration("accel_y_g", 0.0),
        acceleration("accel_z_g", 1.0),
        rate("gyro_x_dps"),
        rate("gyro_y_dps"),
        rate("gyro_z_dps"),
        Param {
            key: "temperature_c",
            unit: "C",
            min: -40.0,
            max: 85.0,
            default: 25.0,
        },
    ],
    power_on,
    measure,
    written,
    seen: plain,
};

const GYRO_CONFIG: usize = 0x1b;
const ACCEL_CONFIG: usize = 0x1c;
const INT_STATUS: usize = 0x3a;
const DATA: usize = 0x3b;
const PWR_MGMT_1: usize = 0x6b;
const WHO_AM_I: usize = 0x75;

const RESET: u8 = 0x80;
const SLEEP: u8 = 0x40;
const DATA_READY: u8 = 0x01;

/// Counts per g and per degree per second in the most sensitive range; each further range halves
/// them.
const PER_G: f64 = 16_384.0;
const PER_DPS: [f64; 4] = [131.0, 65.5, 32.8, 16.4];

fn power_on() -> Image {
    let mut image = [0; 256];
    image[PWR_MGMT_1] = SLEEP;
    image[WHO_AM_I] = 0x68;
    image
}

fn measure(image: &mut Image, values: &[f64]) {
    let range = |config: u8| config >> 3 & 3;
    let per_g = PER_G / f64::from(1_u8 << range(image[ACCEL_CONFIG]));
    let per_dps = PER_DPS[usize::from(range(image[GYRO_CONFIG]))];
    let [ax, ay, az, gx, gy, gz, temperature_c] = *values else {
        unreachable!("the model has seven values");
    };
    let temperature = (temperature_c - 36.53) * 340.0;
    let accelerations = [ax, ay, az].map(|g| g * per_g);
    let rates = [gx, gy, gz].map(|dps| dps * per_dps);
    let counts = accelerations.into_iter().chain([temperature]).chain(rates);
    let asleep = image[PWR_MGMT_1] & SLEEP != 0;
    for (index, count) in counts.enumerate() {
        let count = if asleep { 0 } else { saturated(count) };
        let at = DATA + 2 * index;
        image[at..at + 2].copy_from_slice(&count.to_be_bytes());
    }
    image[INT_STATUS] = if asleep { 0 } else { DATA_READY };
}

fn written(registers: &mut Registers, reg: u8, _: u64) {
    match usize::from(reg) {
        PWR_MGMT_1 if registers.image()[PWR_MGMT_1] & RESET != 0 => registers.restart(),
        PWR_MGMT_1 | GYRO_CONFIG | ACCEL_CONFIG => registers.measure(),
        _ => {}
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "a float saturates, as the part does"
)]
fn saturated(count: f64) -> i16 {
    count.round() as i16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn awake() -> Registers {
        let mut registers = Registers::new(&MODEL);
        write(&mut registers, 0x6b, 0x00);
        registers
    }

    fn write(registers: &mut Registers, reg: u8, byte: u8) {
        registers.begin_write();
        registers.write(reg, 0);
        registers.write(byte, 0);
    }

    fn word(registers: &Registers, reg: u8) -> i16 {
        i16::from_be_bytes([registers.peek(reg, 0), registers.peek(reg + 1, 0)])
    }

    #[test]
    fn it_sleeps_until_it_is_woken_and_after_a_reset() {
        let asleep = Registers::new(&MODEL);
        assert_eq!((word(&asleep, 0x3f), asleep.peek(0x3a, 0)), (0, 0));
        let mut registers = awake();
        assert_eq!(
            (word(&registers, 0x3f), registers.peek(0x3a, 0)),
            (16_384, 1)
        );
        write(&mut registers, 0x1c, 0x18);
        write(&mut registers, 0x6b, 0x80);
        assert_eq!(word(&registers, 0x3f), 0);
        assert_eq!(
            (registers.peek(0x6b, 0), registers.peek(0x1c, 0)),
            (0x40, 0)
        );
    }

    #[test]
    fn ranges_rescale_the_data() {
        let mut registers = awake();
        registers.set_values(vec![-1.0, 0.5, 3.0, 100.0, -250.0, 2_000.0, 36.53]);
        assert_eq!(word(&registers, 0x3b), -16_384);
        // Beyond the range the value saturates.
        assert_eq!(word(&registers, 0x3f), i16::MAX);
        assert_eq!(word(&registers, 0x41), 0);
        assert_eq!(word(&registers, 0x43), 13_100);
        for (setting, per_g, rate) in [
            (0x08, 8_192, 6_550),
            (0x10, 4_096, 3_280),
            (0x18, 2_048, 1_640),
        ] {
            write(&mut registers, 0x1c, setting);
            write(&mut registers, 0x1b, setting);
            assert_eq!(word(&registers, 0x3b), -per_g);
            assert_eq!(word(&registers, 0x43), rate);
        }
    }
}
