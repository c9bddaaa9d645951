//! Addresses of simulated pods: what follows `sim:`.

use std::sync::Arc;

use super::{Board, SimConfig, SimPod, TargetConfig, TargetPart, identity};
use crate::{AddressError, Transport};

/// Simulated pods inside this process; what follows `sim:` is said by `ADDRESS_FORM`.
pub struct Driver;

const ADDRESS_FORM: &str = "v2|v3|digital[,seed=N][,dc][,target[=demo|=blank|=locked][,part=NAME][,worn=ADDRESS]][,fault=FAULT]...[,update-key=HEX]...";

impl crate::Driver for Driver {
    fn scheme(&self) -> &'static str {
        "sim"
    }

    fn address_form(&self) -> &'static str {
        ADDRESS_FORM
    }

    fn transport(&self, address: &str) -> Result<Arc<dyn Transport>, AddressError> {
        let config = config_from(address).ok_or_else(|| AddressError::Malformed {
            address: address.to_owned(),
            form: ADDRESS_FORM,
        })?;
        Ok(SimPod::new(config))
    }
}

fn config_from(address: &str) -> Option<SimConfig> {
    let mut words = address.split(',');
    let mut config = SimConfig {
        board: Board::from_name(words.next()?)?,
        ..SimConfig::default()
    };
    for word in words {
        match word.split_once('=') {
            Some(("seed", seed)) => config.seed = seed.parse().ok()?,
            Some(("fault", fault)) => config.faults.push(fault.parse().ok()?),
            Some(("update-key", key)) => config.update_keys.push(identity::from_hex(key)?),
            Some(("target", "blank")) => config.target = Some(TargetConfig::blank()),
            Some(("target", "locked")) => config.target = Some(TargetConfig::locked()),
            Some(("part", name)) => config.target.as_mut()?.part = TargetPart::named(name)?,
            Some(("worn", address)) => config.target.as_mut()?.worn = Some(address_from(address)?),
            Some(("target", "demo")) => config.target = Some(TargetConfig::demo()),
            None if word == "target" => config.target = Some(TargetConfig::demo()),
            None if word == "dc" => config.ac_dac = false,
            _ => return None,
        }
    }
    Some(config)
}

/// An address of 32 bits: hexadecimal after `0x`, otherwise decimal.
fn address_from(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}
