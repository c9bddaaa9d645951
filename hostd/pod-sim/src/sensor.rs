//! The emulated I2C sensor: its model and channels, what it measures, and the bus that it listens
//! to. The bus is evaluated only when somebody needs it.

use serde_json::{Map, Value, json};

mod bme280;
mod bmp280;
mod listen;
mod model;
mod mpu6050;
mod registers;
mod sht4x;
mod wire;

use super::args::Args;
use super::pins::{Owner, Pins, bit};
use super::refuse::Refuse;
use model::{MODELS, Model};
use registers::Registers;
use wire::Wire;

/// Addresses that the bus leaves for devices.
const ADDRESSES: std::ops::RangeInclusive<u8> = 0x08..=0x77;
const ADDRESS_FORM: &str = "an address of 0x08 to 0x77, decimal or 0x";

pub(super) const FUNCTIONS: [Owner; 2] = [Owner::I2cSda, Owner::I2cScl];

/// The sensor, if there is one, and counts that outlive it.
#[derive(Default)]
pub(crate) struct Sensor {
    armed: Option<Armed>,
    /// STOP conditions seen while any sensor was armed.
    transactions: u16,
    /// The lines of the current or the last sensor.
    lines: Option<Lines>,
}

/// Channels of the bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lines {
    pub(crate) scl: u8,
    pub(crate) sda: u8,
}

/// A sensor on its bus.
struct Armed {
    address: u8,
    lines: Lines,
    registers: Registers,
    wire: Wire,
    /// The bus has been evaluated up to here.
    seen_ns: u64,
}

impl Sensor {
    fn armed(&mut self) -> Result<&mut Armed, Refuse> {
        self.armed.as_mut().ok_or(Refuse::NoSensor)
    }

    /// The lines of the current or the last sensor.
    pub(crate) fn lines(&self) -> Option<Lines> {
        self.lines
    }

    /// Removes the sensor; the caller frees the channels.
    pub(super) fn end(&mut self) {
        self.armed = None;
    }
}

/// `sensor_types`: the models and their values.
pub(crate) fn types() -> Value {
    json!({"types": MODELS.map(Model::describe)})
}

/// A requested sensor, with its channels claimed.
pub(crate) struct Start {
    model: &'static Model,
    address: u8,
    lines: Lines,
}

impl Start {
    /// `sensor_start`: claims two channels, which may be those of a running sensor.
    pub(crate) fn claim(pins: &mut Pins, args: &Args<'_>, now_ns: u64) -> Result<Self, Refuse> {
        pins.need_bank()?;
        let name = args
            .text("type")?
            .ok_or(Refuse::Missing { field: "type" })?;
        let model = Model::from_name(name).ok_or(Refuse::Bad {
            field: "type",
            want: "bmp280, bme280, sht4x or mpu6050",
        })?;
        let sda = args.la("sda")?.ok_or(Refuse::Missing { field: "sda" })?;
        let scl = args.la("scl")?.ok_or(Refuse::Missing { field: "scl" })?;
        if sda == scl {
            return Err(Refuse::SameSensorPins);
        }
        let address = address(args)?.unwrap_or(model.addr);
        let claims = [(sda, Owner::I2cSda), (scl, Owner::I2cScl)];
        // A running sensor gives up its channels to the new one, but only if the new one can start.
        for (la, owner) in claims {
            if !FUNCTIONS.contains(&pins.owner(la)) {
                pins.check_claim(la, owner, now_ns)?;
            }
        }
        pins.free(&FUNCTIONS, now_ns);
        pins.claim_all(&claims, now_ns)?;
        let lines = Lines { scl, sda };
        Ok(Self {
            model,
            address,
            lines,
        })
    }
}

impl Sensor {
    /// Puts a sensor on its channels, whose levels are `word`, replacing a running one.
    pub(crate) fn start(&mut self, start: &Start, word: u16, now_ns: u64) -> Value {
        let Start {
            model,
            address,
            lines,
        } = *start;
        let Lines { scl, sda } = lines;
        self.lines = Some(lines);
        self.armed = Some(Armed {
            address,
            lines,
            registers: Registers::new(model),
            wire: Wire::new(address, word & bit(scl) != 0, word & bit(sda) != 0),
            seen_ns: now_ns,
        });
        json!({"type": model.name, "addr": address, "sda": sda, "scl": scl})
    }

    /// Registers from `start` on, with their current values.
    pub(crate) fn peek(&mut self, start: u8, len: usize, now_ns: u64) -> Result<Vec<u16>, Refuse> {
        let registers = &self.armed()?.registers;
        let numbers = (start..=u8::MAX).take(len);
        let bytes = numbers.map(|number| u16::from(registers.peek(number, now_ns)));
        Ok(bytes.collect())
    }
}

/// `sensor_set`: changes the measured values; all of them or none.
pub(crate) fn set(sensor: &mut Sensor, args: &Args<'_>) -> Result<Value, Refuse> {
    let armed = sensor.armed()?;
    let model = armed.registers.model();
    let mut values = armed.registers.values().to_vec();
    let mut changes = 0;
    for (param, value) in model.params.iter().zip(&mut values) {
        let Some(asked) = args.number(param.key)? else {
            continue;
        };
        if !(param.min..=param.max).contains(&asked) {
            return Err(Refuse::Beyond {
                field: param.key,
                min: param.min,
                max: param.max,
            });
        }
        *value = asked;
        changes += 1;
    }
    let known = |key: &&String| *key == "cmd" || model.params.iter().any(|it| it.key == *key);
    if let Some(key) = args.0.keys().find(|key| !known(key)) {
        return Err(Refuse::UnknownValue {
            key: key.clone(),
            model: model.name,
        });
    }
    if changes == 0 {
        return Err(Refuse::Missing { field: "a value" });
    }
    armed.registers.set_values(values);
    Ok(json!({"type": model.name, "values": model.report(armed.registers.values())}))
}

/// `sensor_status`.
pub(crate) fn status(sensor: &Sensor) -> Value {
    let Some(armed) = &sensor.armed else {
        return json!({"active": false});
    };
    let registers = &armed.registers;
    let mut status = Map::new();
    let fields = [
        ("active", json!(true)),
        ("type", json!(registers.model().name)),
        ("addr", json!(armed.address)),
        ("transactions", json!(sensor.transactions)),
        ("reads", json!(registers.reads)),
        ("writes", json!(registers.writes)),
        ("last_reg", json!(registers.last_reg)),
        ("last_val", json!(registers.last_val)),
        ("values", registers.model().report(registers.values())),
    ];
    status.extend(fields.map(|(name, value)| (name.to_owned(), value)));
    Value::Object(status)
}

/// `sensor_stop`: removes the sensor and frees its channels.
pub(crate) fn stop(sensor: &mut Sensor, pins: &mut Pins, now_ns: u64) -> Value {
    pins.free(&FUNCTIONS, now_ns);
    sensor.end();
    Value::Null
}

/// The requested address: a number, or a decimal or hexadecimal text.
fn address(args: &Args<'_>) -> Result<Option<u8>, Refuse> {
    let wrong = Refuse::Bad {
        field: "addr",
        want: ADDRESS_FORM,
    };
    match args.byte("addr") {
        Ok(Some(address)) if !ADDRESSES.contains(&address) => Err(wrong),
        Ok(address) => Ok(address),
        Err(_) => Err(wrong),
    }
}

#[cfg(test)]
mod tests;
