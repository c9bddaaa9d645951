//! Requests that every device answers (Universal Serial Bus Specification 2.0, section 9.4).

use super::bus::Setup;
use super::descriptors::Descriptors;

const GET_STATUS: u8 = 0;
const CLEAR_FEATURE: u8 = 1;
const SET_FEATURE: u8 = 3;
const GET_DESCRIPTOR: u8 = 6;
const GET_CONFIGURATION: u8 = 8;
const SET_CONFIGURATION: u8 = 9;
const GET_INTERFACE: u8 = 10;
const SET_INTERFACE: u8 = 11;

/// Bits of the request type that tell standard requests from others.
const KIND: u8 = 0x60;

/// Asks an interface for a descriptor: one of its class, which only the device knows.
const OF_CLASS: (u8, u8) = (0x81, GET_DESCRIPTOR);

/// Whether a request is one of the standard ones that are answered here.
pub(crate) fn is_standard(setup: &Setup) -> bool {
    setup.request_type & KIND == 0 && (setup.request_type, setup.request) != OF_CLASS
}

/// Answers a standard request; `None` refuses it.
pub(crate) fn answer(descriptors: &Descriptors, setup: &Setup) -> Option<Vec<u8>> {
    match (setup.request_type, setup.request) {
        (0x80..=0x82, GET_STATUS) => Some(vec![0, 0]),
        (0x80, GET_DESCRIPTOR) => {
            let [number, kind] = setup.value.to_le_bytes();
            match kind {
                1 => Some(descriptors.device()),
                2 if number == 0 => Some(descriptors.configuration()),
                3 => descriptors.text(number),
                6 => Some(descriptors.qualifier()),
                _ => None,
            }
        }
        (0x80, GET_CONFIGURATION) => Some(vec![1]),
        (0x81, GET_INTERFACE) => Some(vec![0]),
        (0x00, SET_CONFIGURATION) => (setup.value <= 1).then(Vec::new),
        (0x01, SET_INTERFACE) => (setup.value == 0).then(Vec::new),
        (0x00..=0x02, CLEAR_FEATURE | SET_FEATURE) => Some(Vec::new()),
        _ => None,
    }
}
