//! How much a command can do, so that links can be limited.

use serde_json::{Map, Value};

/// What a command can change. Later ones include earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// T0: looks only.
    Read,
    /// T1: uses the instrument.
    Instrument,
    /// T2: changes what the pod stores.
    Settings,
    /// T3: replaces firmware.
    Firmware,
}

impl Tier {
    /// 0 to 3, as tunnels announce their limit.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The tier with this number.
    pub const fn from_number(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::Read),
            1 => Some(Self::Instrument),
            2 => Some(Self::Settings),
            3 => Some(Self::Firmware),
            _ => None,
        }
    }
}

/// What in a request of a reading command makes it a change of stored settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The field is there.
    Given(&'static str),
    /// The field is there and not false.
    Set(&'static str),
    /// The field is false.
    Unset(&'static str),
    /// The field names something else than these.
    Unless(&'static str, &'static [&'static str]),
}

impl Change {
    /// Whether `request` is such a change.
    pub fn applies(self, request: &Map<String, Value>) -> bool {
        let field = |name: &str| request.get(name).filter(|value| !value.is_null());
        let is_false = |value: &Value| *value == Value::Bool(false) || value.as_i64() == Some(0);
        match self {
            Self::Given(name) => field(name).is_some(),
            Self::Set(name) => field(name).is_some_and(|value| !is_false(value)),
            Self::Unset(name) => field(name).is_some_and(is_false),
            Self::Unless(name, reading) => field(name).is_some_and(|value| {
                let word = value.as_str();
                !word.is_some_and(|word| reading.contains(&word))
            }),
        }
    }
}
