//! All ports of a chip, and the changes at their pins that the outside has not seen yet.

use std::collections::VecDeque;

use super::gpio::{Gpio, PortReset};
use super::pin::{Level, Pin, PinChange, Port};

/// A way of a peripheral's signal to a pin: the alternate function that has to be selected there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route {
    /// Index of the port.
    pub(crate) port: usize,
    /// The pin's number in the port.
    pub(crate) pin: u32,
    /// The alternate function's number.
    pub(crate) function: u32,
}

#[derive(Debug)]
pub(crate) struct Ports {
    ports: Vec<Gpio>,
    changes: VecDeque<PinChange>,
    /// The routes of all outputs.
    outputs: &'static [Route],
}

impl Ports {
    pub(crate) fn new(count: usize, outputs: &'static [Route]) -> Self {
        Self {
            ports: (0..count).map(|_| Gpio::default()).collect(),
            changes: VecDeque::new(),
            outputs,
        }
    }

    /// Resets all ports; `values` has those of the first ones, the others have none.
    pub(crate) fn reset(&mut self, at_ns: u64, values: &[PortReset]) {
        for place in 0..self.ports.len() {
            let values = values.get(place).copied().unwrap_or_default();
            self.ports[place].reset(values);
            self.show(at_ns, place);
        }
    }

    pub(crate) fn has_changes(&self) -> bool {
        !self.changes.is_empty()
    }

    pub(crate) fn take_change(&mut self) -> Option<PinChange> {
        self.changes.pop_front()
    }

    pub(crate) fn read(&self, port: usize, offset: u32) -> u32 {
        self.ports.get(port).map_or(0, |port| port.read(offset))
    }

    pub(crate) fn write(&mut self, at_ns: u64, port: usize, offset: u32, value: u32) {
        if let Some(gpio) = self.ports.get_mut(port) {
            gpio.write(offset, value);
            self.show(at_ns, port);
        }
    }

    pub(crate) fn set_outside(&mut self, pin: Pin, level: Level) {
        if let Some(port) = self.ports.get_mut(pin.port.place() as usize) {
            port.set_outside(pin.number, level);
        }
    }

    /// What the chip reads at a pin.
    pub(crate) fn reads(&self, pin: Pin) -> bool {
        let port = self.ports.get(pin.port.place() as usize);
        port.is_some_and(|port| port.level(u32::from(pin.number)))
    }

    fn is_selected(&self, route: &Route) -> bool {
        let port = self.ports.get(route.port);
        port.is_some_and(|port| port.function(route.pin) == Some(route.function))
    }

    /// The level that a peripheral's input sees; high if it is not routed to any pin.
    pub(crate) fn input(&self, routes: &[Route]) -> bool {
        let route = routes.iter().find(|route| self.is_selected(route));
        route.is_none_or(|route| self.ports[route.port].level(route.pin))
    }

    /// A peripheral's output changes, wherever it is routed.
    pub(crate) fn set_output(&mut self, at_ns: u64, routes: &[Route], level: bool) {
        for route in routes {
            if let Some(port) = self.ports.get_mut(route.port) {
                port.set_alternate_level(route.pin, level);
                self.show(at_ns, route.port);
            }
        }
    }

    /// Records the changes at the pins of a port.
    fn show(&mut self, at_ns: u64, place: usize) {
        let outputs = self
            .outputs
            .iter()
            .filter(|route| route.port == place && self.is_selected(route))
            .fold(0, |outputs, route| outputs | 1 << route.pin);
        let Some(port) = u32::try_from(place).ok().and_then(Port::at_place) else {
            return;
        };
        let changes = self.ports[place].changes(outputs);
        self.changes
            .extend(changes.map(|(number, drive)| PinChange {
                at_ns,
                pin: Pin { port, number },
                drive,
            }));
    }
}
