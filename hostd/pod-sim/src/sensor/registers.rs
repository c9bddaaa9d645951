//! A sensor as seen from its bus: 256 bytes and a pointer. The first byte of a write sets the
//! pointer, further ones are stored; reads start at the pointer, which wraps around and is kept
//! after the STOP.

use super::model::Model;

/// All registers.
pub(crate) type Image = [u8; 256];

/// A sensor that is read and written byte by byte.
pub(crate) struct Registers {
    model: &'static Model,
    image: Image,
    values: Vec<f64>,
    pointer: u8,
    /// Where the pointer was last set: the command, for sensors that have commands.
    command: u8,
    /// Whether the next written byte sets the pointer.
    addressed: bool,
    /// End of a conversion that the target started.
    pub(super) busy_until_ns: u64,
    pub(super) reads: u64,
    pub(super) writes: u64,
    pub(super) last_reg: u8,
    pub(super) last_val: u8,
}

impl Registers {
    pub(super) fn new(model: &'static Model) -> Self {
        let mut registers = Self {
            model,
            image: (model.power_on)(),
            values: model.defaults(),
            pointer: 0,
            command: 0,
            addressed: false,
            busy_until_ns: 0,
            reads: 0,
            writes: 0,
            last_reg: 0,
            last_val: 0,
        };
        registers.measure();
        registers
    }

    pub(super) fn model(&self) -> &'static Model {
        self.model
    }

    pub(super) fn image(&self) -> &Image {
        &self.image
    }

    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }

    pub(super) fn command(&self) -> u8 {
        self.command
    }

    /// Sets what the sensor measures from now on.
    pub(super) fn set_values(&mut self, values: Vec<f64>) {
        self.values = values;
        self.measure();
    }

    /// Updates the data registers.
    pub(super) fn measure(&mut self) {
        (self.model.measure)(&mut self.image, &self.values);
    }

    /// Returns to the state after power-on; the measured values stay.
    pub(super) fn restart(&mut self) {
        self.image = (self.model.power_on)();
        self.measure();
    }

    /// The sensor was addressed for writing.
    pub(crate) fn begin_write(&mut self) {
        self.addressed = true;
    }

    /// Takes a byte from the target. It is always acknowledged.
    pub(crate) fn write(&mut self, byte: u8, at_ns: u64) {
        if std::mem::take(&mut self.addressed) {
            self.pointer = byte;
            self.command = byte;
            return;
        }
        let reg = self.pointer;
        self.pointer = reg.wrapping_add(1);
        self.image[usize::from(reg)] = byte;
        self.writes += 1;
        (self.last_reg, self.last_val) = (reg, byte);
        (self.model.written)(self, reg, at_ns);
    }

    /// Returns the next byte for the target.
    pub(crate) fn read(&mut self, at_ns: u64) -> u8 {
        let byte = self.peek(self.pointer, at_ns);
        self.pointer = self.pointer.wrapping_add(1);
        self.reads += 1;
        byte
    }

    /// A register as the target would read it.
    pub(super) fn peek(&self, reg: u8, at_ns: u64) -> u8 {
        (self.model.seen)(self, reg, at_ns)
    }
}
