//! I²C, to measure: starts, stops, bytes and acknowledgements, from changes and from samples.

use hostd_plugin::decoder::{Channel, Class, Decoder, Description, Found, Input, Setup};

const START: u32 = 0;
const STOP: u32 = 1;
const BYTE: u32 = 2;
const ACK: u32 = 3;
const NACK: u32 = 4;

const SCL: u8 = 1;
const SDA: u8 = 2;

/// From changes.
pub(crate) struct Changes(Machine);

/// From samples.
pub(crate) struct Samples(Machine);

/// The bus between two samples.
struct Machine {
    levels: u8,
    is_busy: bool,
    /// Bits of the byte so far, and its first sample.
    bits: u32,
    count: u32,
    began: u64,
}

impl Machine {
    fn new() -> Self {
        Self {
            levels: SCL | SDA,
            is_busy: false,
            bits: 0,
            count: 0,
            began: 0,
        }
    }

    #[inline]
    fn change(&mut self, at: u64, levels: u8, found: &mut Found) {
        let changed = self.levels ^ levels;
        self.levels = levels;
        if changed & SCL != 0 {
            if levels & SCL != 0 && self.is_busy {
                self.bit(at, levels & SDA != 0, found);
            }
        } else if changed & SDA != 0 && levels & SCL != 0 {
            self.is_busy = levels & SDA == 0;
            let class = if self.is_busy { START } else { STOP };
            found.mark(at, at, class);
            (self.bits, self.count) = (0, 0);
        }
    }

    #[inline]
    fn bit(&mut self, at: u64, bit: bool, found: &mut Found) {
        if self.count == 0 {
            self.began = at;
        }
        if self.count == 8 {
            found.number(self.began, at, BYTE, self.bits.into());
            found.mark(at, at, if bit { NACK } else { ACK });
            (self.bits, self.count) = (0, 0);
        } else {
            self.bits = self.bits << 1 | u32::from(bit);
            self.count += 1;
        }
    }
}

impl Decoder for Changes {
    const DESCRIPTION: Description = Description {
        channels: &[
            Channel::required("scl", "Clock"),
            Channel::required("sda", "Data"),
        ],
        classes: &[
            Class::new("start", "Start"),
            Class::new("stop", "Stop"),
            Class::new("byte", "Byte"),
            Class::new("ack", "ACK"),
            Class::new("nack", "NACK"),
        ],
        ..Description::of("i2c", "I²C")
    };

    fn new(_: &Setup) -> Result<Self, String> {
        Ok(Self(Machine::new()))
    }

    #[inline]
    fn change(&mut self, at: u64, levels: u8, found: &mut Found) {
        self.0.change(at, levels, found);
    }

    fn finish(&mut self, _: u64, _: &mut Found) {}
}

impl Decoder for Samples {
    const DESCRIPTION: Description = Description {
        input: Input::Samples,
        id: "i2c-samples",
        ..Changes::DESCRIPTION
    };

    fn new(_: &Setup) -> Result<Self, String> {
        Ok(Self(Machine::new()))
    }

    fn change(&mut self, _: u64, _: u8, _: &mut Found) {}

    fn samples(&mut self, start: u64, levels: &[u8], found: &mut Found) {
        for (at, levels) in (start..).zip(levels) {
            if *levels != self.0.levels {
                self.0.change(at, *levels, found);
            }
        }
    }

    fn finish(&mut self, _: u64, _: &mut Found) {}
}
