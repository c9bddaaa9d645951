//! BME280: a BMP280 with humidity (BST-BME280-DS002, 4.2.3).

use super::bmp280::{self, PRESSURE, TEMPERATURE, first_at_least, whole};
use super::model::{Model, Param};
use super::registers::Image;

pub(crate) static MODEL: Model = Model {
    name: "bme280",
    label: "Bosch BME280",
    addr: 0x76,
    alt_addr: 0x77,
    params: &[
        TEMPERATURE,
        PRESSURE,
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
    written: bmp280::written,
    seen: bmp280::seen,
};

const H1: i64 = 75;
const H2: i64 = 362;
const H3: i64 = 0;
const H4: i64 = 322;
const H5: i64 = 50;
const H6: i64 = 30;

const CHIP_ID: usize = 0xd0;
const HUMIDITY_DATA: usize = 0xfd;

fn power_on() -> Image {
    let mut image = bmp280::power_on();
    image[CHIP_ID] = 0x60;
    let low = |word: i64| word.to_le_bytes()[0];
    image[0xa1] = low(H1);
    image[0xe1] = low(H2);
    image[0xe2] = low(H2 >> 8);
    image[0xe3] = low(H3);
    // H4 and H5 have 12 bits and share a byte.
    image[0xe4] = low(H4 >> 4);
    image[0xe5] = low((H4 & 0xf) | (H5 & 0xf) << 4);
    image[0xe6] = low(H5 >> 4);
    image[0xe7] = low(H6);
    image
}

fn measure(image: &mut Image, values: &[f64]) {
    let fine = bmp280::measure_both(image, values[0], values[1]);
    let wanted = whole(values[2] * 1024.0);
    let raw = first_at_least(wanted, 0xffff, |raw| humidity(raw, fine));
    let [low, high, ..] = raw.to_le_bytes();
    image[HUMIDITY_DATA..HUMIDITY_DATA + 2].copy_from_slice(&[high, low]);
}

/// The vendor's humidity in 1/1024 %.
fn humidity(raw: i64, fine: i64) -> i64 {
    let offset = fine - 76_800;
    let left = ((raw << 14) - (H4 << 20) - H5 * offset + 16_384) >> 15;
    let right = (((((offset * H6) >> 10) * (((offset * H3) >> 11) + 32_768)) >> 10) + 2_097_152)
        * H2
        + 8_192;
    let value = left * (right >> 14);
    let value = value - (((((value >> 15) * (value >> 15)) >> 7) * H1) >> 4);
    value.clamp(0, 419_430_400) >> 12
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_values_survive_the_targets_own_compensation() {
        for temperature_c in [-40.0, 0.0, 25.0, 85.0] {
            for humidity_pct in [0.0, 5.0, 40.0, 70.0, 100.0] {
                let mut image = power_on();
                let fine = bmp280::measure_both(&mut image, temperature_c, 101_325.0);
                measure(&mut image, &[temperature_c, 101_325.0, humidity_pct]);
                let raw = i64::from(image[0xfd]) << 8 | i64::from(image[0xfe]);
                let off = humidity(raw, fine) - whole(humidity_pct * 1024.0);
                assert!(off.abs() <= 20, "{temperature_c} C {humidity_pct} %: {off}");
            }
        }
    }

    #[test]
    fn calibration_reads_back_as_the_vendors_driver_reads_it() {
        let image = power_on();
        let signed = |at: usize| i64::from(image[at].cast_signed());
        let h4 = (signed(0xe4) * 16) | i64::from(image[0xe5] & 0xf);
        let h5 = (signed(0xe6) * 16) | i64::from(image[0xe5] >> 4);
        assert_eq!((h4, h5), (H4, H5));
        assert_eq!(i64::from(image[0xe1]) | i64::from(image[0xe2]) << 8, H2);
        assert_eq!((image[0xd0], image[0xa1], image[0xe7]), (0x60, 75, 30));
    }
}
