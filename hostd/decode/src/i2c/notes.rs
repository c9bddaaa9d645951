//! Turns bus events into annotations.

use super::machine::{Event, Kind};
use super::{
    ACK, ADDRESS_READ, ADDRESS_WRITE, BIT, DATA_READ, DATA_WRITE, NACK, REPEAT_START, START, STOP,
};
use crate::annotation::{Annotation, ClassSet, Value};

/// Remembers what an annotation needs from earlier events.
pub(super) struct Notes {
    shown: ClassSet,
    unshifted: bool,
    reading: bool,
    bits: [(u64, bool); 8],
    bit_count: usize,
}

impl Notes {
    pub(super) fn new(shown: ClassSet, unshifted: bool) -> Self {
        Self {
            shown,
            unshifted,
            reading: false,
            bits: [(0, false); 8],
            bit_count: 0,
        }
    }

    pub(super) fn take(&mut self, events: &[Event], out: &mut Vec<Annotation>) {
        for event in events {
            match event.kind {
                Kind::Start => self.condition(event, START, out),
                Kind::RepeatStart => self.condition(event, REPEAT_START, out),
                Kind::Stop => self.condition(event, STOP, out),
                Kind::Ack => self.mark(event, ACK, out),
                Kind::Nack => self.mark(event, NACK, out),
                Kind::Bit => self.bit(event),
                Kind::Address => self.address(event, out),
                Kind::Data => self.data(event, out),
            }
        }
    }

    fn mark(&self, event: &Event, class: u8, out: &mut Vec<Annotation>) {
        if self.shown.has(class) {
            out.push(Annotation::mark(event.start, event.end, class));
        }
    }

    fn condition(&mut self, event: &Event, class: u8, out: &mut Vec<Annotation>) {
        self.bit_count = 0;
        self.mark(event, class, out);
    }

    fn bit(&mut self, event: &Event) {
        if let Some(slot) = self.bits.get_mut(self.bit_count) {
            *slot = (event.start, event.value != 0);
            self.bit_count += 1;
        }
    }

    /// Bits are shown once the byte is complete, last bit first.
    fn bits(&mut self, byte_end: u64, out: &mut Vec<Annotation>) {
        let mut end = byte_end;
        for &(start, bit) in self.bits[..self.bit_count].iter().rev() {
            out.push(Annotation::bit(start, end, BIT, bit));
            end = start;
        }
        self.bit_count = 0;
    }

    fn address(&mut self, event: &Event, out: &mut Vec<Annotation>) {
        self.reading = event.value & 1 != 0;
        self.bits(event.end, out);
        let class = if self.reading {
            ADDRESS_READ
        } else {
            ADDRESS_WRITE
        };
        if !self.shown.has(class) {
            return;
        }
        let (start, end) = (event.middle, event.end);
        out.push(Annotation {
            start,
            end,
            class,
            value: Value::Direction,
        });
        let address = if self.unshifted {
            event.value
        } else {
            event.value >> 1
        };
        out.push(Annotation::number(
            event.start,
            event.middle,
            class,
            address.into(),
        ));
    }

    fn data(&mut self, event: &Event, out: &mut Vec<Annotation>) {
        self.bits(event.end, out);
        let class = if self.reading { DATA_READ } else { DATA_WRITE };
        if self.shown.has(class) {
            out.push(Annotation::number(
                event.start,
                event.end,
                class,
                event.value.into(),
            ));
        }
    }
}
