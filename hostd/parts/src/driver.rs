//! Addresses of benches: `parts:` and the name of the entry in the configuration whose tables name the parts.

use std::sync::Arc;

use base::config::{DeviceConfig, UartPart};
use pod_protocol::connection::Transport;
use pod_protocol::driver::AddressError;

use crate::address::{self, Address};
use crate::sampling::Instruments;
use crate::{Bench, power, probe};

/// How addresses of benches begin, and what kind of transport records call it.
pub const SCHEME: &str = "parts";

/// What the parts of a bench are, checked.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) name: String,
    pub(crate) probe: Option<Address>,
    pub(crate) uart: Option<UartPart>,
    pub(crate) power: Option<power::Plan>,
    pub(crate) instruments: Instruments,
}

/// The benches of a configuration.
#[derive(Debug, Default)]
pub struct Driver {
    devices: Vec<DeviceConfig>,
}

impl Driver {
    /// The benches among these devices.
    #[must_use]
    pub fn new(devices: &[DeviceConfig]) -> Self {
        let is_bench = |device: &&DeviceConfig| address_of(device).is_some();
        let devices = devices.iter().filter(is_bench).cloned().collect();
        Self { devices }
    }
}

/// The address of a bench behind its scheme.
fn address_of(device: &DeviceConfig) -> Option<&str> {
    device.address.strip_prefix(SCHEME)?.strip_prefix(':')
}

impl pod_protocol::driver::Driver for Driver {
    fn scheme(&self) -> &'static str {
        SCHEME
    }

    fn address_form(&self) -> &'static str {
        "the name of an entry of the configuration with tables of its parts"
    }

    fn transport(&self, address: &str) -> Result<Arc<dyn Transport>, AddressError> {
        let is_it = |device: &&DeviceConfig| address_of(device) == Some(address);
        let device = self.devices.iter().find(is_it);
        let device = device.ok_or_else(|| AddressError::Malformed {
            address: address.to_owned(),
            form: self.address_form(),
        })?;
        let plan = plan(address, device).map_err(|reason| AddressError::Unusable {
            address: device.address.clone(),
            reason,
        })?;
        Ok(Arc::new(Bench::new(plan)))
    }
}

/// What an entry means; otherwise what is wrong with it.
fn plan(name: &str, device: &DeviceConfig) -> Result<Plan, String> {
    let probe = device.probe.as_ref().map(|probe| {
        let address = Address::parse(&probe.address, probe::PORT_DEFAULT);
        address.ok_or_else(|| {
            let form = address::FORM;
            format!(
                "probe.address `{}` is not of the form {form}",
                probe.address
            )
        })
    });
    let power = device.power.as_ref().map(power::Plan::of);
    Ok(Plan {
        name: name.to_owned(),
        probe: probe.transpose()?,
        uart: device.uart.clone(),
        power: power.transpose()?,
        instruments: Instruments::of(device.logic.as_ref(), device.analog.as_ref())?,
    })
}
