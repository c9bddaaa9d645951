//! BMP280: temperature and pressure, as raw values that the vendor's integer compensation turns
//! back into the values that were set (BST-BMP280-DS001, 3.11.3 and 8.1).

use super::model::{Model, Param};
use super::registers::{Image, Registers};

pub(super) const TEMPERATURE: Param = Param {
    key: "temperature_c",
    unit: "C",
    min: -100.0,
    max: 150.0,
    default: 25.0,
};
pub(super) const PRESSURE: Param = Param {
    key: "pressure_pa",
    unit: "Pa",
    min: 1_000.0,
    max: 200_000.0,
    default: 101_325.0,
};

pub(crate) static MODEL: Model = Model {
    name: "bmp280",
    label: "Bosch BMP280",
    addr: 0x76,
    alt_addr: 0x77,
    params: &[TEMPERATURE, PRESSURE],
    power_on,
    measure,
    written,
    seen,
};

/// Calibration values of the data sheet's example.
const T1: i64 = 27_504;
const T2: i64 = 26_435;
const T3: i64 = -1_000;
const P: [i64; 9] = [
    36_477, -10_685, 3_024, 2_855, 140, -7, 15_500, -14_600, 6_000,
];

const CALIBRATION: usize = 0x88;
const CHIP_ID: usize = 0xd0;
const STATUS: u8 = 0xf3;
const CTRL_MEAS: u8 = 0xf4;
const PRESSURE_DATA: usize = 0xf7;
const TEMPERATURE_DATA: usize = 0xfa;

/// Status during a conversion, and the duration of one.
const MEASURING: u8 = 0x08;
const CONVERSION_NS: u64 = 5_500_000;

/// Raw values have 20 bits.
const RAW_MAX: i64 = (1 << 20) - 1;

pub(super) fn power_on() -> Image {
    let mut image = [0; 256];
    image[CHIP_ID] = 0x58;
    let words = [T1, T2, T3].into_iter().chain(P);
    for (index, word) in words.enumerate() {
        let [low, high, ..] = word.to_le_bytes();
        image[CALIBRATION + 2 * index] = low;
        image[CALIBRATION + 2 * index + 1] = high;
    }
    image
}

/// Writes pressure and temperature; returns the fine temperature, which compensates other values.
pub(super) fn measure_both(image: &mut Image, temperature_c: f64, pressure_pa: f64) -> i64 {
    let centi = whole(temperature_c * 100.0);
    let raw_t = first_at_least(centi, RAW_MAX, |raw| temperature(fine(raw)));
    let fine = fine(raw_t);
    // Pressure falls as the raw value rises, so both signs are reversed.
    let wanted = -whole(pressure_pa * 256.0);
    let raw_p = first_at_least(wanted, RAW_MAX, |raw| -pressure(raw, fine));
    store(image, PRESSURE_DATA, raw_p);
    store(image, TEMPERATURE_DATA, raw_t);
    fine
}

fn measure(image: &mut Image, values: &[f64]) {
    measure_both(image, values[0], values[1]);
}

pub(super) fn written(registers: &mut Registers, reg: u8, at_ns: u64) {
    if reg == CTRL_MEAS {
        registers.busy_until_ns = at_ns + CONVERSION_NS;
    }
}

pub(super) fn seen(registers: &Registers, reg: u8, at_ns: u64) -> u8 {
    let byte = registers.image()[usize::from(reg)];
    if reg == STATUS && at_ns < registers.busy_until_ns {
        byte | MEASURING
    } else {
        byte
    }
}

fn store(image: &mut Image, at: usize, raw: i64) {
    let [low, middle, high, ..] = (raw << 4).to_le_bytes();
    image[at..at + 3].copy_from_slice(&[high, middle, low]);
}

/// The raw value in `0..=most` for which an increasing function comes nearest to `wanted`.
pub(super) fn first_at_least(wanted: i64, most: i64, of: impl Fn(i64) -> i64) -> i64 {
    let (mut low, mut high) = (0, most);
    while low < high {
        let middle = (low + high) / 2;
        if of(middle) < wanted {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    let before = (low - 1).max(0);
    if (of(before) - wanted).abs() < (of(low) - wanted).abs() {
        before
    } else {
        low
    }
}

/// The vendor's fine temperature for a raw value.
fn fine(raw: i64) -> i64 {
    let var1 = (((raw >> 3) - (T1 << 1)) * T2) >> 11;
    let offset = (raw >> 4) - T1;
    let var2 = (((offset * offset) >> 12) * T3) >> 14;
    var1 + var2
}

/// The vendor's temperature in 0.01 °C.
fn temperature(fine: i64) -> i64 {
    (fine * 5 + 128) >> 8
}

/// The vendor's pressure in 1/256 Pa.
fn pressure(raw: i64, fine: i64) -> i64 {
    let [p1, p2, p3, p4, p5, p6, p7, p8, p9] = P;
    let var1 = fine - 128_000;
    let var2 = var1 * var1 * p6 + ((var1 * p5) << 17) + (p4 << 35);
    let var1 = ((var1 * var1 * p3) >> 8) + ((var1 * p2) << 12);
    let var1 = (((1 << 47) + var1) * p1) >> 33;
    if var1 == 0 {
        return 0;
    }
    let value = (((1_048_576 - raw) << 31) - var2) * 3_125 / var1;
    let var1 = (p9 * (value >> 13) * (value >> 13)) >> 25;
    let var2 = (p8 * value) >> 19;
    ((value + var1 + var2) >> 8) + (p7 << 4)
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "the ranges of the parameters are small"
)]
pub(super) fn whole(value: f64) -> i64 {
    value.round() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_sheets_example_comes_out() {
        let fine = fine(519_888);
        assert_eq!(fine, 128_422);
        assert_eq!(temperature(fine), 2_508);
        assert_eq!(pressure(415_148, fine), 25_767_233);
    }

    #[test]
    fn set_values_survive_the_targets_own_compensation() {
        for temperature_c in [-100.0, -40.0, 0.0, 22.5, 31.25, 85.0, 150.0] {
            for pressure_pa in [1_000.0, 30_000.0, 101_325.0, 110_000.0, 200_000.0] {
                let mut image = power_on();
                measure(&mut image, &[temperature_c, pressure_pa]);
                let raw = |at: usize| {
                    let bytes = [0, image[at], image[at + 1], image[at + 2]];
                    i64::from(u32::from_be_bytes(bytes) >> 4)
                };
                let fine = fine(raw(0xfa));
                let centi = whole(temperature_c * 100.0);
                assert!((temperature(fine) - centi).abs() <= 1, "{temperature_c} C");
                let off = pressure(raw(0xf7), fine) - whole(pressure_pa * 256.0);
                // Beyond the part's range, the raw values reach their end before the highest
                // pressure.
                let ends = pressure_pa > 110_000.0 && raw(0xf7) == 0 && off < 0;
                assert!(
                    ends || off.abs() <= 256,
                    "{temperature_c} C {pressure_pa} Pa: {off}"
                );
            }
        }
    }
}
