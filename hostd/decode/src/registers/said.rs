//! What was said to a part, in words and as members of a JSON object.

use super::part::{Part, Register};
use crate::annotation::{Access, Annotation, Value};
use std::fmt::Write;
use std::sync::Arc;

/// A byte on the bus, and where it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Byte {
    pub(super) value: u8,
    pub(super) start: u64,
    pub(super) end: u64,
}

/// Whom something was said to.
#[derive(Debug, Clone)]
pub(super) struct Device {
    pub(super) address: u8,
    pub(super) part: Option<Arc<Part>>,
}

/// Something that was said: begun as `BME280 0x76: ` and `"device":118,"part":"bme280"`.
pub(super) struct Said {
    text: String,
    members: String,
}

impl Device {
    pub(super) fn said(&self) -> Said {
        let address = self.address;
        let mut said = Said {
            text: String::new(),
            members: format!("\"device\":{address}"),
        };
        if let Some(part) = &self.part {
            let _ = write!(said.text, "{} ", part.name);
            let _ = write!(said.members, ",\"part\":\"{}\"", part.id);
        }
        let _ = write!(said.text, "0x{address:02X}: ");
        said
    }
}

impl Said {
    pub(super) fn words(mut self, words: &str) -> Self {
        self.text.push_str(words);
        self
    }

    /// The name of a register.
    pub(super) fn register(mut self, name: &str, at: u32) -> Self {
        self.text.push_str(name);
        let _ = write!(self.members, ",\"register\":\"{name}\",\"at\":{at}");
        self
    }

    /// A number that has no name.
    pub(super) fn number(mut self, at: u32, digits: usize) -> Self {
        let _ = write!(self.text, "0x{at:0digits$X}");
        let _ = write!(self.members, ",\"at\":{at}");
        self
    }

    /// All of a register: ` = 0x27 (mode normal)`.
    pub(super) fn value(mut self, register: &Register, value: u64) -> Self {
        let digits = usize::from(register.bytes) * 2;
        let _ = write!(self.text, " = 0x{value:0digits$X}");
        let _ = write!(self.members, ",\"value\":{value}");
        let mut fields = String::new();
        let mut members = String::new();
        for field in &register.fields {
            let Some(meaning) = field.meaning(value) else {
                continue;
            };
            meaning.push(&field.name, &mut fields);
            if !members.is_empty() {
                members.push(',');
            }
            let _ = write!(members, "\"{}\":", field.name);
            meaning.push_json(&mut members);
        }
        if !fields.is_empty() {
            let _ = write!(self.text, " ({fields})");
        }
        if !members.is_empty() {
            let _ = write!(self.members, ",\"fields\":{{{members}}}");
        }
        self
    }

    /// Bytes as they are.
    pub(super) fn bytes(mut self, bytes: &[Byte]) -> Self {
        self.members.push_str(",\"bytes\":[");
        for (index, byte) in bytes.iter().enumerate() {
            if index > 0 {
                self.members.push(',');
            }
            let _ = write!(self.text, " {:02X}", byte.value);
            let _ = write!(self.members, "{}", byte.value);
        }
        self.members.push(']');
        self
    }

    pub(super) fn annotation(self, class: u8, (start, end): (u64, u64)) -> Annotation {
        Annotation {
            start,
            end,
            class,
            value: Value::Access(Box::new(Access {
                text: self.text.into(),
                members: self.members.into(),
            })),
        }
    }
}

/// From the first byte to the last.
pub(super) fn span(bytes: &[Byte]) -> (u64, u64) {
    match (bytes.first(), bytes.last()) {
        (Some(first), Some(last)) => (first.start, last.end),
        _ => (0, 0),
    }
}
