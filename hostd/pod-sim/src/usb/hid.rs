//! The probe of a simulated pod as a device of its own that has CMSIS-DAP v1 alone: a human interface device, whose
//! packets are reports.

use std::sync::Arc;

use pod_protocol::usb::CMSIS_DAP_NAME;
use usb_sim::{Answer, Bus, Descriptors, Device, Endpoint, Interface, Setup, Speed};

use super::probe::{self, Form};
use crate::SimPod;

/// Vendor and product number: those that pid.codes keeps for tests.
const IDS: (u16, u16) = (0x1209, 0x0003);

/// Bytes of a report: what the endpoints of a device of 12 Mbit/s take at once.
const REPORT_BYTES: u16 = 64;

/// How packets travel.
const REPORTS: Form = Form {
    packet_bytes: REPORT_BYTES as usize,
    packet_count: 4,
    is_report: true,
};

/// The endpoints, without direction.
const PROBE: u8 = 1;

/// What the reports are (Device Class Definition for HID 1.11, section 6.2.2): of a usage of this vendor's, without
/// numbers, 64 bytes each way.
const REPORT_DESCRIPTOR: [u8; 27] = [
    0x06, 0x00, 0xFF, 0x09, 0x01, 0xA1, 0x01, 0x15, 0x00, 0x26, 0xFF, 0x00, 0x75, 0x08, 0x95, 0x40,
    0x09, 0x01, 0x81, 0x02, 0x95, 0x40, 0x09, 0x01, 0x91, 0x02, 0xC0,
];

/// Types of descriptors.
const HID: u8 = 0x21;
const REPORT: u8 = 0x22;

/// Requests for a descriptor of the class, and of the class.
const GET_DESCRIPTOR: (u8, u8) = (0x81, 6);
const SET_IDLE: (u8, u8) = (0x21, 0x0A);

impl SimPod {
    /// The pod's probe as a device of its own, of the first version of CMSIS-DAP. Needs a tokio runtime when it is plugged
    /// in.
    pub fn hid_probe(self: &Arc<Self>, serial: &str) -> HidProbe {
        HidProbe {
            pod: self.clone(),
            serial: serial.to_owned(),
        }
    }
}

/// A probe of the first version of CMSIS-DAP.
pub struct HidProbe {
    pod: Arc<SimPod>,
    serial: String,
}

impl Device for HidProbe {
    fn descriptors(&self) -> Descriptors {
        let [low, high] = u16::try_from(REPORT_DESCRIPTOR.len())
            .unwrap_or_default()
            .to_le_bytes();
        Descriptors {
            ids: IDS,
            version: 0x0100,
            class: (0, 0, 0),
            manufacturer: "Simulated".to_owned(),
            product: format!("Probe {CMSIS_DAP_NAME} (simulated)"),
            serial: Some(self.serial.clone()),
            speed: Speed::Full,
            interfaces: vec![Interface {
                class: (3, 0, 0),
                functional: vec![9, HID, 0x11, 0x01, 0, 1, REPORT, low, high],
                endpoints: vec![
                    Endpoint::Interrupt(PROBE | 0x80, REPORT_BYTES),
                    Endpoint::Interrupt(PROBE, REPORT_BYTES),
                ],
                ..Interface::default()
            }],
        }
    }

    fn start(&mut self, bus: &mut Bus) {
        let (output, input) = (bus.output(PROBE), bus.full_input(PROBE));
        tokio::spawn(probe::run(self.pod.clone(), REPORTS, output, input));
    }

    fn control<'a>(&'a mut self, setup: Setup, _: &'a [u8]) -> Answer<'a> {
        Box::pin(async move {
            let [_, kind] = setup.value.to_le_bytes();
            match (setup.request_type, setup.request) {
                GET_DESCRIPTOR if kind == REPORT => Some(REPORT_DESCRIPTOR.to_vec()),
                SET_IDLE => Some(Vec::new()),
                _ => None,
            }
        })
    }
}
