//! A serial adapter, as the kernel's driver for such (`cdc-acm`) knows it: it echoes, and keeps a record of what it was
//! told.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use usb_sim::{Answer, Bus, Descriptors, Device, Endpoint, Interface, Setup, Speed};

/// Vendor and product number: those that pid.codes keeps for tests.
pub(crate) const IDS: (u16, u16) = (0x1209, 0x0003);

/// Endpoints, without direction.
const EVENTS: u8 = 1;
const DATA: u8 = 2;

/// Requests of a serial port (Universal Serial Bus Class Definitions for Communication Devices, PSTN, section 6.3).
const SET_LINE_CODING: u8 = 0x20;
const GET_LINE_CODING: u8 = 0x21;
const SET_CONTROL_LINE_STATE: u8 = 0x22;
const SEND_BREAK: u8 = 0x23;

/// Rate, stop bits, parity, data bits.
const LINE_CODING: [u8; 7] = [0x80, 0x25, 0, 0, 0, 0, 8];

/// Header, call management, abstract control with line coding and breaks, union of the interfaces 0 and 1.
const SERIAL_PORT: [u8; 19] = [
    5, 0x24, 0, 0x10, 0x01, 5, 0x24, 1, 0, 1, 4, 0x24, 2, 6, 5, 0x24, 6, 0, 1,
];

/// What the adapter was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Told {
    /// Rate; parity: 0 none, 1 odd, 2 even; data bits.
    Line(u32, u8, u8),
    /// To hold the line low for so many milliseconds, for ever (0xFFFF) or no longer (0).
    Break(u16),
    /// Bytes for the line.
    Bytes(Vec<u8>),
}

/// What it was told, in order, and how often it still refuses to end a break.
#[derive(Debug, Clone, Default)]
pub(crate) struct Record(Arc<Mutex<Vec<Told>>>, Arc<AtomicU32>);

impl Record {
    fn note(&self, told: Told) {
        self.0.lock().unwrap().push(told);
    }

    /// What it was told since this was last asked.
    pub(crate) fn take(&self) -> Vec<Told> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    /// Refuses to end a break so often from now on.
    pub(crate) fn refuse_ends(&self, count: u32) {
        self.1.store(count, Ordering::SeqCst);
    }

    fn refuses_end(&self) -> bool {
        let less = |count: u32| count.checked_sub(1);
        let refused = self
            .1
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, less);
        refused.is_ok()
    }
}

/// The adapter.
pub(crate) struct Adapter {
    record: Record,
    line_coding: Vec<u8>,
}

impl Adapter {
    pub(crate) fn new(record: &Record) -> Self {
        Self {
            record: record.clone(),
            line_coding: LINE_CODING.to_vec(),
        }
    }
}

impl Device for Adapter {
    fn descriptors(&self) -> Descriptors {
        Descriptors {
            ids: IDS,
            version: 0x0100,
            class: (2, 0, 0),
            manufacturer: "Simulated".to_owned(),
            product: "Serial adapter".to_owned(),
            serial: None,
            speed: Speed::Full,
            interfaces: vec![
                Interface {
                    class: (2, 2, 1),
                    functional: SERIAL_PORT.to_vec(),
                    endpoints: vec![Endpoint::Interrupt(EVENTS | 0x80, 16)],
                    ..Interface::default()
                },
                Interface {
                    class: (10, 0, 0),
                    endpoints: vec![Endpoint::Bulk(DATA), Endpoint::Bulk(DATA | 0x80)],
                    ..Interface::default()
                },
            ],
        }
    }

    fn start(&mut self, bus: &mut Bus) {
        // It never has anything to tell, so that requests for it stay pending.
        drop(bus.message_input(EVENTS));
        let (mut output, mut input) = (bus.output(DATA), bus.input(DATA));
        let record = self.record.clone();
        tokio::spawn(async move {
            while let Ok(bytes) = output.receive().await {
                record.note(Told::Bytes(bytes.clone()));
                if input.send(&bytes).await.is_err() {
                    return;
                }
            }
        });
    }

    fn control<'a>(&'a mut self, setup: Setup, bytes: &'a [u8]) -> Answer<'a> {
        Box::pin(async move {
            match (setup.request_type, setup.request) {
                (0x21, SET_LINE_CODING) => {
                    let [a, b, c, d, _, parity, bits] = *bytes else {
                        return None;
                    };
                    let baud = u32::from_le_bytes([a, b, c, d]);
                    self.record.note(Told::Line(baud, parity, bits));
                    self.line_coding = bytes.to_vec();
                    Some(Vec::new())
                }
                (0xA1, GET_LINE_CODING) => Some(self.line_coding.clone()),
                (0x21, SEND_BREAK) if setup.value == 0 && self.record.refuses_end() => None,
                (0x21, SEND_BREAK) => {
                    self.record.note(Told::Break(setup.value));
                    Some(Vec::new())
                }
                (0x21, SET_CONTROL_LINE_STATE) => Some(Vec::new()),
                _ => None,
            }
        })
    }
}
