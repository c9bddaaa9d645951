//! A sensor model: its addresses, the values it takes, and how they become registers.

use serde_json::{Map, Value, json};

use super::registers::{Image, Registers};
use super::{bme280, bmp280, mpu6050, sht4x};

/// All models, in the order in which `sensor_types` lists them.
pub(crate) static MODELS: [&Model; 4] = [
    &bmp280::MODEL,
    &bme280::MODEL,
    &sht4x::MODEL,
    &mpu6050::MODEL,
];

/// A value that can be set.
#[derive(Debug)]
pub(crate) struct Param {
    pub(crate) key: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) default: f64,
}

/// A sensor model. Values are in the order of `params`.
pub(crate) struct Model {
    pub(crate) name: &'static str,
    pub(crate) label: &'static str,
    pub(crate) addr: u8,
    pub(crate) alt_addr: u8,
    pub(crate) params: &'static [Param],
    /// The registers after power-on, before anything is measured.
    pub(crate) power_on: fn() -> Image,
    /// Writes the measured values into the registers.
    pub(crate) measure: fn(&mut Image, &[f64]),
    /// Called when the target has stored a byte.
    pub(crate) written: fn(&mut Registers, reg: u8, at_ns: u64),
    /// The value that the target reads.
    pub(crate) seen: fn(&Registers, reg: u8, at_ns: u64) -> u8,
}

impl Model {
    pub(crate) fn from_name(name: &str) -> Option<&'static Self> {
        MODELS.into_iter().find(|model| model.name == name)
    }

    pub(super) fn defaults(&self) -> Vec<f64> {
        self.params.iter().map(|param| param.default).collect()
    }

    /// The values by their keys.
    pub(super) fn report(&self, values: &[f64]) -> Value {
        let named = self.params.iter().zip(values);
        let named = named.map(|(param, value)| (param.key.to_owned(), json!(value)));
        Value::Object(named.collect::<Map<_, _>>())
    }

    /// The entry of `sensor_types`.
    pub(super) fn describe(&self) -> Value {
        let params = self.params.iter().map(|param| {
            json!({"key": param.key, "unit": param.unit, "min": param.min, "max": param.max,
                "default": param.default})
        });
        json!({"type": self.name, "label": self.label, "addr": self.addr,
            "alt_addr": self.alt_addr, "params": params.collect::<Vec<_>>()})
    }
}

/// For registers whose bytes are only stored.
pub(super) fn stored(_: &mut Registers, _: u8, _: u64) {}

/// The register's plain value.
pub(super) fn plain(registers: &Registers, reg: u8, _: u64) -> u8 {
    registers.image()[usize::from(reg)]
}
