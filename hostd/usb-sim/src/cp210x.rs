//! A USB serial adapter with a CP2104, which has four lines beside its serial port that can be switched (GPIO). What it is
//! sent comes back; it keeps a record of what it was told.
//!
//! Its requests are those of Silicon Labs' application note AN571; its settings are laid out as the kernel's driver reads
//! them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::bus::{Answer, Bus, Device, Setup};
use super::descriptors::{Descriptors, Endpoint, Interface, Speed};

/// Vendor and product number of all that keep those of the factory, by which the kernel's driver finds them.
pub const IDS: (u16, u16) = (0x10C4, 0xEA60);

/// Lines that can be switched.
pub const LINES: u8 = 4;

/// Endpoint of the serial port, both ways.
const DATA: u8 = 1;

/// Class of interfaces without one.
const VENDOR_CLASS: u8 = 0xFF;

/// Requests about the serial port and about the whole device, each way.
const TO_PORT: u8 = 0x41;
const FROM_PORT: u8 = 0xC1;
const TO_DEVICE: u8 = 0x40;
const FROM_DEVICE: u8 = 0xC0;

/// Requests.
const IFC_ENABLE: u8 = 0x00;
const SET_LINE_CTL: u8 = 0x03;
const GET_LINE_CTL: u8 = 0x04;
const SET_BREAK: u8 = 0x05;
const SET_MHS: u8 = 0x07;
const GET_MDMSTS: u8 = 0x08;
const GET_COMM_STATUS: u8 = 0x10;
const PURGE: u8 = 0x12;
const SET_FLOW: u8 = 0x13;
const GET_FLOW: u8 = 0x14;
const EMBED_EVENTS: u8 = 0x15;
const SET_CHARS: u8 = 0x19;
const GET_BAUDRATE: u8 = 0x1D;
const SET_BAUDRATE: u8 = 0x1E;
const VENDOR_SPECIFIC: u8 = 0xFF;

/// What the last of them is about.
const READ_LATCH: u16 = 0x00C2;
const GET_PARTNUM: u16 = 0x370B;
const GET_PORTCONFIG: u16 = 0x370C;
const WRITE_LATCH: u16 = 0x37E1;

/// The part number of a CP2104.
const CP2104: u8 = 4;

/// Bytes of answers.
const COMM_STATUS_BYTES: usize = 19;
const FLOW_BYTES: usize = 16;
const PORTCONFIG_BYTES: usize = 13;

/// Where, in the settings, the modes of the lines are, and their levels after a reset: one bit each, from this one on.
const MODE_AT: usize = 0;
const RESET_AT: usize = 4;
const FIRST_LINE: u16 = 8;

/// All lines, a bit each.
const ALL: u8 = (1 << LINES) - 1;

/// What the adapter was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// The rate, in baud.
    Rate(u32),
    /// The form of frames.
    Frame {
        /// Bits of data.
        bits: u8,
        /// 0 none, 1 odd, 2 even.
        parity: u8,
        /// 0 for one stop bit.
        stop: u8,
    },
    /// To hold the line low, or no longer.
    Break(bool),
    /// Bytes for the line.
    Bytes(Vec<u8>),
}

/// What is beside the adapter's chip: who looks at its lines, and reads its record.
#[derive(Debug, Clone)]
pub struct Board(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    told: Vec<Told>,
    /// What the lines are told to be, a bit each.
    latch: u8,
    /// Lines that something outside holds low.
    held_low: u8,
    /// Whether high lines are driven, too, and not only let go.
    is_push_pull: bool,
    rate: u32,
    /// Form of frames, as it is sent.
    frame: [u8; 2],
    flow: Vec<u8>,
}

impl Board {
    fn new(is_push_pull: bool) -> Self {
        Self(Arc::new(Mutex::new(State {
            told: Vec::new(),
            latch: ALL,
            held_low: 0,
            is_push_pull,
            rate: 115_200,
            frame: [0, 8],
            flow: vec![0; FLOW_BYTES],
        })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the adapter was told since this was last asked.
    pub fn take(&self) -> Vec<Told> {
        std::mem::take(&mut self.state().told)
    }

    /// Which lines are high; the first is line 0.
    pub fn levels(&self) -> [bool; LINES as usize] {
        let levels = self.state().levels();
        std::array::from_fn(|line| levels & (1 << line) != 0)
    }

    /// Holds a line low from outside, or no longer.
    pub fn hold_low(&self, line: u8, is_held: bool) {
        let mut state = self.state();
        match is_held {
            true => state.held_low |= 1 << line,
            false => state.held_low &= !(1 << line),
        }
    }
}

impl State {
    fn levels(&self) -> u8 {
        self.latch & !self.held_low
    }

    fn set(&mut self, setup: &Setup, bytes: &[u8]) -> Option<()> {
        match setup.request {
            SET_BAUDRATE => {
                self.rate = u32::from_le_bytes(bytes.try_into().ok()?);
                self.told.push(Told::Rate(self.rate));
            }
            SET_LINE_CTL => {
                self.frame = setup.value.to_le_bytes();
                let [low, bits] = self.frame;
                let (stop, parity) = (low & 0x0F, low >> 4);
                self.told.push(Told::Frame { bits, parity, stop });
            }
            SET_BREAK => self.told.push(Told::Break(setup.value != 0)),
            SET_FLOW if bytes.len() == FLOW_BYTES => self.flow = bytes.to_vec(),
            IFC_ENABLE | SET_MHS | PURGE | EMBED_EVENTS | SET_CHARS => {}
            _ => return None,
        }
        Some(())
    }

    fn get(&self, setup: &Setup) -> Option<Vec<u8>> {
        Some(match setup.request {
            GET_LINE_CTL => self.frame.to_vec(),
            GET_BAUDRATE => self.rate.to_le_bytes().to_vec(),
            GET_FLOW => self.flow.clone(),
            GET_MDMSTS => vec![0],
            GET_COMM_STATUS => vec![0; COMM_STATUS_BYTES],
            _ => return None,
        })
    }

    fn get_specific(&self, about: u16) -> Option<Vec<u8>> {
        Some(match about {
            GET_PARTNUM => vec![CP2104],
            GET_PORTCONFIG => settings(self.is_push_pull),
            READ_LATCH => vec![self.levels()],
            _ => return None,
        })
    }

    /// The low byte says which lines, the high one what they become.
    fn write_latch(&mut self, index: u16) {
        let [mask, levels] = index.to_le_bytes();
        let mask = mask & ALL;
        self.latch = (self.latch & !mask) | (levels & mask);
    }
}

/// All lines are GPIO, and high after a reset.
fn settings(is_push_pull: bool) -> Vec<u8> {
    let mut settings = vec![0; PORTCONFIG_BYTES];
    let lines = u16::from(ALL) << FIRST_LINE;
    let mode = if is_push_pull { lines } else { 0 };
    for (at, bits) in [(MODE_AT, mode), (RESET_AT, lines)] {
        settings[at..at + 2].copy_from_slice(&bits.to_le_bytes());
    }
    settings
}

/// The adapter.
#[derive(Debug)]
pub struct Cp2104 {
    board: Board,
    serial: String,
}

impl Cp2104 {
    /// One with this serial number. After a reset, as when it is plugged in, its lines are high.
    pub fn new(serial: &str) -> Self {
        Self::of(serial, true)
    }

    /// One whose lines are only pulled low; otherwise they rise through resistors.
    pub fn with_open_drain(serial: &str) -> Self {
        Self::of(serial, false)
    }

    fn of(serial: &str, is_push_pull: bool) -> Self {
        Self {
            board: Board::new(is_push_pull),
            serial: serial.to_owned(),
        }
    }

    /// What is beside it, to look at while it is plugged in.
    pub fn board(&self) -> Board {
        self.board.clone()
    }

    fn answer(&self, setup: &Setup, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut state = self.board.state();
        let is_specific = setup.request == VENDOR_SPECIFIC;
        match setup.request_type {
            FROM_DEVICE if is_specific => state.get_specific(setup.value),
            TO_DEVICE if is_specific && setup.value == WRITE_LATCH => {
                state.write_latch(setup.index);
                Some(Vec::new())
            }
            FROM_PORT => state.get(setup),
            TO_PORT => state.set(setup, bytes).map(|()| Vec::new()),
            _ => None,
        }
    }
}

impl Device for Cp2104 {
    fn descriptors(&self) -> Descriptors {
        Descriptors {
            ids: IDS,
            version: 0x0100,
            class: (0, 0, 0),
            manufacturer: "Simulated".to_owned(),
            product: "CP2104 (simulated)".to_owned(),
            serial: Some(self.serial.clone()),
            speed: Speed::Full,
            interfaces: vec![Interface {
                class: (VENDOR_CLASS, 0, 0),
                endpoints: vec![Endpoint::Bulk(DATA), Endpoint::Bulk(DATA | 0x80)],
                ..Interface::default()
            }],
        }
    }

    fn start(&mut self, bus: &mut Bus) {
        let (mut output, mut input) = (bus.output(DATA), bus.input(DATA));
        let board = self.board.clone();
        tokio::spawn(async move {
            while let Ok(bytes) = output.receive().await {
                board.state().told.push(Told::Bytes(bytes.clone()));
                if input.send(&bytes).await.is_err() {
                    return;
                }
            }
        });
    }

    fn control<'a>(&'a mut self, setup: Setup, bytes: &'a [u8]) -> Answer<'a> {
        Box::pin(async move { self.answer(&setup, bytes) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(
        adapter: &Cp2104,
        (request_type, request): (u8, u8),
        (value, index): (u16, u16),
        bytes: &[u8],
    ) -> Option<Vec<u8>> {
        let setup = Setup {
            request_type,
            request,
            value,
            index,
            length: 0,
        };
        adapter.answer(&setup, bytes)
    }

    #[test]
    fn only_lines_that_are_meant_change() {
        let adapter = Cp2104::new("1");
        let board = adapter.board();
        assert_eq!(board.levels(), [true; 4]);
        let latch = |index| ask(&adapter, (0x40, 0xFF), (0x37E1, index), &[]);
        assert_eq!(latch(0x0005), Some(Vec::new()));
        assert_eq!(board.levels(), [false, true, false, true]);
        assert_eq!(latch(0xFF04), Some(Vec::new()));
        assert_eq!(board.levels(), [false, true, true, true]);
        board.hold_low(1, true);
        let levels = ask(&adapter, (0xC0, 0xFF), (0x00C2, 0), &[]);
        assert_eq!(levels, Some(vec![0b1100]));
        board.hold_low(1, false);
        assert_eq!(board.levels(), [false, true, true, true]);
    }

    #[test]
    fn the_record_has_what_was_told_in_order() {
        let adapter = Cp2104::new("1");
        let tell = |request, value, bytes: &[u8]| {
            assert_eq!(
                ask(&adapter, (0x41, request), (value, 0), bytes),
                Some(Vec::new())
            );
        };
        tell(0x1E, 0, &[0x80, 0x25, 0, 0]);
        tell(0x03, 0x0821, &[]);
        tell(0x05, 1, &[]);
        tell(0x05, 0, &[]);
        let frame = Told::Frame {
            bits: 8,
            parity: 2,
            stop: 1,
        };
        let told = [
            Told::Rate(9600),
            frame,
            Told::Break(true),
            Told::Break(false),
        ];
        assert_eq!(adapter.board().take(), told);
        assert_eq!(adapter.board().take(), []);
        let rate = ask(&adapter, (0xC1, 0x1D), (0, 0), &[]);
        assert_eq!(rate, Some(vec![0x80, 0x25, 0, 0]));
        let frame = ask(&adapter, (0xC1, 0x04), (0, 0), &[]);
        assert_eq!(frame, Some(vec![0x21, 0x08]));
    }

    #[test]
    fn what_it_does_not_know_is_refused() {
        let adapter = Cp2104::new("1");
        for (request, value, bytes) in [
            // A rate of three bytes, flow control of none, a request and a subject that there are not.
            ((0x41, 0x1E), 0, &[1, 2, 3][..]),
            ((0x41, 0x13), 0, &[]),
            ((0x41, 0x7F), 0, &[]),
            ((0xC1, 0x7F), 0, &[]),
            ((0xC0, 0xFF), 0x000E, &[]),
            ((0x40, 0xFF), 0x370B, &[]),
            ((0xC0, 0x08), 0, &[]),
        ] {
            let answer = ask(&adapter, request, (value, 0), bytes);
            assert_eq!(answer, None, "{request:02x?}");
        }
        assert_eq!(adapter.board().take(), []);
    }
}
