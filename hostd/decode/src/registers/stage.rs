//! Follows what masters and devices of a bus say.

use super::device::State;
use super::part::Part;
use super::said::Byte;
use super::{Config, WARNING};
use crate::annotation::{Annotation, Value};
use crate::i2c;
use crate::stage::Stage;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A transfer that goes on.
struct Transfer {
    address: u8,
    is_read: bool,
    /// Where its address is.
    span: (u64, u64),
    is_answered: bool,
    bytes: u64,
}

/// The bus in the middle of a capture.
pub(crate) struct Registers {
    parts: BTreeMap<u8, Arc<Part>>,
    devices: BTreeMap<u8, State>,
    transfer: Option<Transfer>,
    /// A byte that was neither acknowledged nor refused yet.
    byte: Option<Byte>,
}

impl Registers {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            parts: config.parts.clone(),
            devices: BTreeMap::new(),
            transfer: None,
            byte: None,
        }
    }

    fn device(&mut self, address: u8) -> &mut State {
        let part = self.parts.get(&address).cloned();
        self.devices
            .entry(address)
            .or_insert_with(|| State::new(address, part))
    }

    /// The address of a transfer, which ends the one before.
    fn begin(&mut self, address: u8, is_read: bool, span: (u64, u64), out: &mut Vec<Annotation>) {
        self.end(out);
        self.transfer = Some(Transfer {
            address,
            is_read,
            span,
            is_answered: false,
            bytes: 0,
        });
        self.device(address).begin(is_read);
    }

    fn end(&mut self, out: &mut Vec<Annotation>) {
        // A master may end a read without an answer to its last byte.
        self.settle(true, 0, out);
        if let Some(transfer) = self.transfer.take() {
            self.device(transfer.address).end(transfer.is_read, out);
        }
    }

    /// The byte before was acknowledged, or, if it was read, need not be.
    fn settle(&mut self, is_acknowledged: bool, end: u64, out: &mut Vec<Annotation>) {
        let Some(byte) = self.byte.take() else {
            return;
        };
        let Some(transfer) = &mut self.transfer else {
            return;
        };
        transfer.bytes += 1;
        let (address, is_read) = (transfer.address, transfer.is_read);
        let device = self.device(address);
        if is_acknowledged || is_read {
            return device.byte(byte, is_read, out);
        }
        device.flush(is_read, out);
        let words = format!("0x{:02X} was not acknowledged", byte.value);
        let said = device.said().words(&words);
        out.push(said.annotation(WARNING, (byte.start, end.max(byte.end))));
    }

    /// An acknowledgement, or none, of what came last.
    fn answer(&mut self, is_acknowledged: bool, end: u64, out: &mut Vec<Annotation>) {
        if self.byte.is_some() {
            return self.settle(is_acknowledged, end, out);
        }
        let Some(transfer) = &mut self.transfer else {
            return;
        };
        if transfer.is_answered || transfer.bytes > 0 {
            return;
        }
        transfer.is_answered = true;
        if is_acknowledged {
            return;
        }
        let words = match transfer.is_read {
            true => "no answer to a read",
            false => "no answer to a write",
        };
        let (address, (start, _)) = (transfer.address, transfer.span);
        let said = self.device(address).said().words(words);
        out.push(said.annotation(WARNING, (start, end)));
    }
}

impl Stage for Registers {
    fn take(&mut self, found: Annotation, out: &mut Vec<Annotation>) {
        match (found.class, &found.value) {
            (i2c::START | i2c::REPEAT_START | i2c::STOP, _) => self.end(out),
            (i2c::ACK, _) => self.answer(true, found.end, out),
            (i2c::NACK, _) => self.answer(false, found.end, out),
            (i2c::ADDRESS_READ | i2c::ADDRESS_WRITE, Value::Number(address)) => {
                let is_read = found.class == i2c::ADDRESS_READ;
                let address = u8::try_from(*address).unwrap_or(u8::MAX);
                self.begin(address, is_read, (found.start, found.end), out);
            }
            (i2c::DATA_READ | i2c::DATA_WRITE, Value::Number(value)) => {
                self.settle(true, 0, out);
                self.byte = Some(Byte {
                    value: u8::try_from(*value).unwrap_or(u8::MAX),
                    start: found.start,
                    end: found.end,
                });
            }
            _ => {}
        }
    }

    fn finish(&mut self, out: &mut Vec<Annotation>) {
        self.end(out);
    }
}
