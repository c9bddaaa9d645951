//! What is said to parts on an I²C bus, by their registers.
//!
//! Parts are described in files, not in code: `registers/*.toml` beside this crate, and those that users bring. A file
//! names the registers, their fields and what these mean; docs/registers.md describes the form. The decoder follows the
//! pointer of each device from transfer to transfer, as the part moves it by itself.

mod device;
mod error;
mod field;
mod file;
mod part;
mod said;
mod stage;

pub use error::PartError;
pub use file::BYTES_MAX as PART_BYTES_MAX;
pub use part::Part;
pub(crate) use stage::Registers;

use crate::annotation::ClassSet;
use crate::decoder::{Accepts, Class, Decoder, OptionInfo, Row};
use crate::i2c;
use crate::spec::{SpecError, nearest};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

/// Name of the decoder.
pub(crate) const ID: &str = "i2c-registers";

pub(crate) const WRITE: u8 = 0;
pub(crate) const READ: u8 = 1;
pub(crate) const SELECT: u8 = 2;
pub(crate) const OTHER: u8 = 3;
pub(crate) const WARNING: u8 = 4;

/// What of the bus's annotations are needed.
pub(crate) const NEEDED: ClassSet = ClassSet::ALL.without(i2c::BIT);

/// Most parts in all.
const PARTS_MAX: usize = 1024;

/// Between a part and its address.
const AT: char = '@';

macro_rules! built_in {
    ($($id:literal),* $(,)?) => {
        /// The ids of the built-in parts and their descriptions.
        const BUILT_IN: &[(&str, &str)] = &[
            $(($id, include_str!(concat!("../registers/", $id, ".toml")))),*
        ];
    };
}

built_in![
    "ads1115", "at24c02", "at24c256", "bme280", "bmp280", "ds1307", "ds3231", "ina219", "lm75",
    "mcp23017", "mpu6050", "pcf8563", "pcf8574", "sht31", "ssd1306", "tmp102",
];

static PARTS: LazyLock<Parts> = LazyLock::new(|| {
    let mut parts = Parts::default();
    for (id, text) in BUILT_IN {
        let part = Part::parse(id, text);
        let part = part.expect("a test reads every built-in description");
        parts.all.insert((*id).to_owned(), Arc::new(part));
    }
    parts
});

/// Descriptions of parts, by their ids.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parts {
    all: BTreeMap<String, Arc<Part>>,
}

/// A decoding job.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub(crate) bus: i2c::Config,
    /// By their addresses.
    pub(crate) parts: BTreeMap<u8, Arc<Part>>,
}

impl Parts {
    /// Those that come with this crate.
    #[must_use]
    pub fn built_in() -> &'static Self {
        &PARTS
    }

    /// Adds one, in place of one with the same id.
    ///
    /// # Errors
    /// There are too many.
    pub fn add(&mut self, part: Part) -> Result<(), PartError> {
        if PARTS_MAX <= self.all.len() && !self.all.contains_key(part.id()) {
            return Err(PartError::Many("parts"));
        }
        self.all.insert(part.id().to_owned(), Arc::new(part));
        Ok(())
    }

    /// All of them, by id.
    pub fn iter(&self) -> impl Iterator<Item = &Part> {
        self.all.values().map(AsRef::as_ref)
    }

    /// Those of an option such as `bme280@0x76,ds1307`, by address. Without an address, a part has all that it can be set
    /// to and that no other part is named at.
    pub(crate) fn named(&self, text: &str) -> Result<BTreeMap<u8, Arc<Part>>, SpecError> {
        let mut named: BTreeMap<u8, Arc<Part>> = BTreeMap::new();
        let mut anywhere = Vec::new();
        for one in text.split(',').map(str::trim).filter(|one| !one.is_empty()) {
            let (id, address) = match one.split_once(AT) {
                Some((id, address)) => (id, Some(address)),
                None => (one, None),
            };
            let part = self.all.get(id).ok_or_else(|| self.unknown(id))?;
            let Some(address) = address else {
                anywhere.push(part);
                continue;
            };
            let found = address_of(address).ok_or_else(|| wrong(one, "addresses 0x08 to 0x77"))?;
            if named.insert(found, part.clone()).is_some() {
                return Err(wrong(one, "one part for each address"));
            }
        }
        let explicit = named.clone();
        for part in anywhere {
            for address in &part.addresses {
                let taken = match explicit.contains_key(address) {
                    true => None,
                    false => named.insert(*address, part.clone()),
                };
                if taken.is_some() {
                    let valid = "parts with an address, as bme280@0x76, where several can have it";
                    return Err(wrong(&part.id, valid));
                }
            }
        }
        Ok(named)
    }

    fn unknown(&self, id: &str) -> SpecError {
        let known: Vec<&str> = self.all.keys().map(String::as_str).collect();
        SpecError::InvalidValue {
            option: "parts".to_owned(),
            value: id.to_owned(),
            hint: nearest(id, &known),
            valid: known.join(", "),
        }
    }
}

fn wrong(value: &str, valid: &str) -> SpecError {
    SpecError::InvalidValue {
        option: "parts".to_owned(),
        value: value.to_owned(),
        hint: None,
        valid: valid.to_owned(),
    }
}

fn address_of(text: &str) -> Option<u8> {
    let address = match text.strip_prefix("0x") {
        Some(digits) => u8::from_str_radix(digits, 16).ok()?,
        None => text.parse().ok()?,
    };
    (file::ADDRESS_MIN..=file::ADDRESS_MAX)
        .contains(&address)
        .then_some(address)
}

/// The decoder's description.
pub(crate) fn decoder() -> Decoder {
    Decoder {
        id: ID.to_owned(),
        name: "I²C, registers of parts".to_owned(),
        channels: i2c::decoder().channels,
        options: vec![OptionInfo::new(
            "parts",
            "Parts on the bus, as bme280@0x76,ds1307",
            "",
            Accepts::Any,
        )],
        classes: vec![
            Class::new("write", "Register written"),
            Class::new("read", "Register read"),
            Class::new("select", "Register selected, or command"),
            Class::new("other", "Bytes of a device without a description"),
            Class::new("warnings", "Not answered or acknowledged"),
        ],
        rows: vec![
            Row::new(
                "registers",
                "Registers",
                &["write", "read", "select", "other"],
            ),
            Row::new("warnings", "Warnings", &["warnings"]),
        ],
        byte_streams: Vec::new(),
    }
}
