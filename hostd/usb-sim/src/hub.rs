//! A hub of USB 2 that switches the power of its ports (Universal Serial Bus Specification 2.0, chapter 11). Nothing
//! can be plugged into it: the kernel's virtual controller has its devices at its own ports.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::bus::{Answer, Bus, Device, Setup};
use super::descriptors::{Descriptors, Endpoint, Interface, Speed};

/// Vendor and product number: those that pid.codes keeps for tests.
pub const IDS: (u16, u16) = (0x1209, 0x0002);

/// Class of hubs.
const CLASS: u8 = 9;

/// All ports of a hub of 480 Mbit/s share what translates for slower devices.
const ONE_TRANSLATOR: u8 = 1;

/// Where changes are told.
const CHANGES: u8 = 0x81;

/// Most ports: their changes and that of the hub fit one byte.
const PORTS_MAX: u8 = 7;

/// Requests and what they are about.
const OF_HUB: u8 = 0x20;
const OF_PORT: u8 = 0x23;
const GET_FROM_HUB: u8 = 0xA0;
const GET_FROM_PORT: u8 = 0xA3;
const GET_STATUS: u8 = 0;
const CLEAR_FEATURE: u8 = 1;
const SET_FEATURE: u8 = 3;
const GET_DESCRIPTOR: u8 = 6;

/// Type of the hub's descriptor.
const DESCRIPTOR: u8 = 0x29;

/// Features of a port; those of changes are only cleared.
const PORT_POWER: u16 = 8;
const PORT_CHANGES: std::ops::RangeInclusive<u16> = 16..=20;

/// Features of a hub: changes of its own supply and current.
const HUB_CHANGES: std::ops::RangeInclusive<u16> = 0..=1;

/// Characteristics: each port has a switch, or none has; no port watches its current.
const SWITCH_EACH: u16 = 0x0011;
const SWITCH_NONE: u16 = 0x0012;

/// Time until the power of a port is good, in 2 ms.
const POWER_GOOD: u8 = 10;

/// The bit of a port's status for its power.
const POWER_BIT: u16 = 1 << 8;

/// The ports of a hub, as the boards on them see it.
#[derive(Debug, Clone)]
pub struct Ports(Arc<Mutex<Vec<bool>>>);

impl Ports {
    fn new(count: u8, on: bool) -> Self {
        let ports = vec![on; usize::from(count)];
        Self(Arc::new(Mutex::new(ports)))
    }

    fn states(&self) -> MutexGuard<'_, Vec<bool>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Which ports have power; the first is port 1.
    pub fn powered(&self) -> Vec<bool> {
        self.states().clone()
    }

    /// The port of this number, counted from 1.
    fn with<T>(&self, number: u16, act: impl FnOnce(&mut bool) -> T) -> Option<T> {
        let at = usize::from(number).checked_sub(1)?;
        self.states().get_mut(at).map(act)
    }
}

/// A hub of some ports.
#[derive(Debug)]
pub struct Hub {
    ports: Ports,
    has_switches: bool,
}

impl Hub {
    /// A hub of 1 to 7 ports, each with a switch. Without anybody who switches them on, they are off.
    pub fn new(ports: u8) -> Self {
        Self::of(ports, true)
    }

    /// A hub whose ports always have power; it takes the orders to switch them all the same, as many do.
    pub fn without_switches(ports: u8) -> Self {
        Self::of(ports, false)
    }

    fn of(ports: u8, has_switches: bool) -> Self {
        Self {
            ports: Ports::new(ports.clamp(1, PORTS_MAX), !has_switches),
            has_switches,
        }
    }

    /// Its ports, to look at while it is plugged in.
    pub fn ports(&self) -> Ports {
        self.ports.clone()
    }

    fn descriptor(&self) -> Vec<u8> {
        let count = u8::try_from(self.ports.states().len()).expect("7 at most");
        let [low, high] = if self.has_switches {
            SWITCH_EACH.to_le_bytes()
        } else {
            SWITCH_NONE.to_le_bytes()
        };
        // Its own current, which ports cannot be removed from, and a field that is all ones since USB 1.1.
        vec![9, DESCRIPTOR, count, low, high, POWER_GOOD, 0, 0x00, 0xFF]
    }

    fn switch(&self, setup: &Setup, on: bool) -> Option<Vec<u8>> {
        let has_switches = self.has_switches;
        self.ports.with(setup.index, |power| {
            if has_switches {
                *power = on;
            }
            Vec::new()
        })
    }

    fn answer(&self, setup: &Setup) -> Option<Vec<u8>> {
        match (setup.request_type, setup.request) {
            (GET_FROM_HUB, GET_DESCRIPTOR) if setup.value >> 8 == u16::from(DESCRIPTOR) => {
                Some(self.descriptor())
            }
            (GET_FROM_HUB, GET_STATUS) => Some(vec![0; 4]),
            (OF_HUB, CLEAR_FEATURE) => HUB_CHANGES.contains(&setup.value).then(Vec::new),
            (GET_FROM_PORT, GET_STATUS) => self.ports.with(setup.index, |power| {
                let status = if *power { POWER_BIT } else { 0 };
                [status.to_le_bytes(), [0, 0]].concat()
            }),
            (OF_PORT, SET_FEATURE) if setup.value == PORT_POWER => self.switch(setup, true),
            (OF_PORT, CLEAR_FEATURE) if setup.value == PORT_POWER => self.switch(setup, false),
            (OF_PORT, CLEAR_FEATURE) if PORT_CHANGES.contains(&setup.value) => {
                self.ports.with(setup.index, |_| Vec::new())
            }
            _ => None,
        }
    }
}

impl Device for Hub {
    fn descriptors(&self) -> Descriptors {
        Descriptors {
            ids: IDS,
            version: 0x0100,
            class: (CLASS, 0, ONE_TRANSLATOR),
            manufacturer: "Simulated".to_owned(),
            product: "Hub (simulated)".to_owned(),
            serial: None,
            speed: Speed::High,
            interfaces: vec![Interface {
                class: (CLASS, 0, 0),
                endpoints: vec![Endpoint::Interrupt(CHANGES, 1)],
                ..Interface::default()
            }],
        }
    }

    fn start(&mut self, bus: &mut Bus) {
        // Nothing ever changes by itself, so that requests for it stay pending.
        drop(bus.message_input(CHANGES));
    }

    fn control<'a>(&'a mut self, setup: Setup, _: &'a [u8]) -> Answer<'a> {
        Box::pin(async move { self.answer(&setup) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(hub: &Hub, request_type: u8, request: u8, value: u16, index: u16) -> Option<Vec<u8>> {
        hub.answer(&Setup {
            request_type,
            request,
            value,
            index,
            length: 0,
        })
    }

    #[test]
    fn each_port_has_its_switch() {
        let hub = Hub::new(4);
        let told = ask(&hub, 0xA0, 6, 0x2900, 0).unwrap();
        assert_eq!((told[0], told[1], told[2], told[3]), (9, 0x29, 4, 0x11));
        assert_eq!(hub.ports().powered(), [false; 4]);
        assert_eq!(ask(&hub, 0x23, 3, 8, 3), Some(Vec::new()));
        assert_eq!(hub.ports().powered(), [false, false, true, false]);
        assert_eq!(ask(&hub, 0xA3, 0, 0, 3).unwrap(), [0, 1, 0, 0]);
        assert_eq!(ask(&hub, 0xA3, 0, 0, 2).unwrap(), [0, 0, 0, 0]);
        assert_eq!(ask(&hub, 0x23, 1, 8, 3), Some(Vec::new()));
        assert_eq!(hub.ports().powered(), [false; 4]);
    }

    #[test]
    fn a_port_that_is_not_there_is_refused() {
        let hub = Hub::new(4);
        for port in [0, 5, 255, 0x0103] {
            assert_eq!(ask(&hub, 0xA3, 0, 0, port), None, "{port}");
            assert_eq!(ask(&hub, 0x23, 3, 8, port), None, "{port}");
            assert_eq!(ask(&hub, 0x23, 1, 8, port), None, "{port}");
        }
        // Nor can a reset be asked for where nothing is plugged in.
        assert_eq!(ask(&hub, 0x23, 3, 4, 1), None);
    }

    #[test]
    fn without_switches_a_port_keeps_its_power() {
        let hub = Hub::without_switches(2);
        assert_eq!(ask(&hub, 0x23, 1, 8, 1), Some(Vec::new()));
        assert_eq!(ask(&hub, 0xA3, 0, 0, 1).unwrap(), [0, 1, 0, 0]);
    }
}
