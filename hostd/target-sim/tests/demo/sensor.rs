//! A BMP280 with the features that the demo uses, bit by bit on two lines.

const ADDRESS: u8 = 0x76;

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    Address,
    Register,
    Write,
    Read,
    /// Another device is addressed.
    Aside,
}

/// A sensor with the calibration and raw values of the data sheet's example.
pub(crate) struct Sensor {
    registers: [u8; 256],
    pointer: u8,
    clock: bool,
    data: bool,
    state: State,
    shift: u8,
    bits: u32,
    pulls: bool,
    /// Every byte on the bus, and every address.
    bytes: Vec<u8>,
    transactions: Vec<u8>,
    is_open: bool,
}

impl Sensor {
    pub(crate) fn new() -> Self {
        let mut registers = [0; 256];
        registers[0xd0] = 0x58;
        let calibration: [i32; 12] = [
            27504, 26435, -1000, 36477, -10685, 3024, 2855, 140, -7, 15500, -14600, 6000,
        ];
        for (place, value) in calibration.iter().enumerate() {
            let [low, high, ..] = value.to_le_bytes();
            registers[0x88 + 2 * place] = low;
            registers[0x89 + 2 * place] = high;
        }
        let mut sensor = Self {
            registers,
            pointer: 0,
            clock: true,
            data: true,
            state: State::Idle,
            shift: 0,
            bits: 0,
            pulls: false,
            bytes: Vec::new(),
            transactions: Vec::new(),
            is_open: false,
        };
        sensor.set_raw(0xf7, 415_148);
        sensor.set_raw_temperature(519_888);
        sensor
    }

    fn set_raw(&mut self, first: usize, value: u32) {
        let [low, middle, high, _] = (value << 4).to_le_bytes();
        self.registers[first..first + 3].copy_from_slice(&[high, middle, low]);
    }

    pub(crate) fn set_raw_temperature(&mut self, value: u32) {
        self.set_raw(0xfa, value);
    }

    /// Transactions (from START to STOP) that began with this address.
    pub(crate) fn transactions_to(&self, address: u8) -> usize {
        self.transactions
            .iter()
            .filter(|other| **other == address)
            .count()
    }

    pub(crate) fn first_bytes(&self) -> &[u8] {
        &self.bytes[..4]
    }

    /// New levels driven by the controller. Returns whether the sensor pulls the data line down.
    pub(crate) fn lines(&mut self, clock: bool, released: bool) -> bool {
        let data = released && !self.pulls;
        let was = (self.clock, self.data);
        (self.clock, self.data) = (clock, data);
        match (was, (clock, data)) {
            ((true, true), (true, false)) => {
                self.state = State::Address;
                (self.bits, self.shift) = (0, 0);
            }
            ((true, false), (true, true)) => {
                self.state = State::Idle;
                self.is_open = false;
            }
            ((false, _), (true, _)) => self.rise(data),
            ((true, _), (false, _)) => self.fall(),
            _ => {}
        }
        self.data = released && !self.pulls;
        self.pulls
    }

    fn rise(&mut self, data: bool) {
        if self.state == State::Idle {
            return;
        }
        self.bits += 1;
        if self.bits <= 8 {
            self.shift = self.shift << 1 | u8::from(data);
            if self.bits == 8 {
                self.bytes.push(self.shift);
            }
        } else if self.state == State::Read && data {
            self.state = State::Aside;
        }
    }

    fn fall(&mut self) {
        self.pulls = match (self.bits, self.state) {
            (8, State::Address) => {
                if !self.is_open {
                    self.transactions.push(self.shift >> 1);
                    self.is_open = true;
                }
                self.state = match (self.shift >> 1 == ADDRESS, self.shift & 1 == 1) {
                    (false, _) => State::Aside,
                    (true, true) => State::Read,
                    (true, false) => State::Register,
                };
                self.state != State::Aside
            }
            (8, State::Register) => {
                self.pointer = self.shift;
                self.state = State::Write;
                true
            }
            (8, State::Write) => true,
            (9, _) => {
                (self.bits, self.shift) = (0, 0);
                self.state == State::Read && self.next_bit()
            }
            (_, State::Read) => self.next_bit(),
            _ => false,
        };
    }

    /// Whether the next bit to be read is a zero.
    fn next_bit(&mut self) -> bool {
        if self.bits == 8 {
            return false;
        }
        let byte = self.registers[usize::from(self.pointer)];
        let is_zero = byte >> (7 - self.bits) & 1 == 0;
        if self.bits == 7 {
            self.pointer = self.pointer.wrapping_add(1);
        }
        is_zero
    }
}
