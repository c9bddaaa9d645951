//! Addresses of simulated pods: what follows `sim:`.

use std::sync::Arc;

use super::{Board, SimConfig, SimPod, TargetConfig, identity};
use crate::{AddressError, Transport};

/// `sim:v2|v3|digital[,seed=N][,dc][,target|,target=blank][,fault=FAULT]...`.
pub struct Driver;

const ADDRESS_FORM: &str =
    "v2|v3|digital[,seed=N][,dc][,target|,target=blank][,fault=FAULT]...[,update-key=HEX]...";

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
            Some(("target", "demo")) => config.target = Some(TargetConfig::demo()),
            None if word == "target" => config.target = Some(TargetConfig::demo()),
            None if word == "dc" => config.ac_dac = false,
            _ => return None,
        }
    }
    Some(config)
}
