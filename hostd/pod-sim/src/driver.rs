//! Addresses of simulated pods: the part after `sim:`.

use std::sync::Arc;

use hex::FromHex as _;
use pod_protocol::connection::Transport;
use pod_protocol::driver::AddressError;

use super::{Board, SimConfig, SimPod, TargetConfig, TargetPart};

/// Simulated pods inside this process; `ADDRESS_FORM` describes what follows `sim:`.
pub struct Driver;

const ADDRESS_FORM: &str = "v2|v3|digital[,seed=N][,dc][,memory=SAMPLES][,target[=demo|=blank|=locked|=PART][,part=NAME][,worn=ADDRESS]][,fault=FAULT]...[,update-key=HEX]...";

impl pod_protocol::driver::Driver for Driver {
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
            Some(("memory", samples)) => config.stream_samples = samples.parse().ok()?,
            Some(("fault", fault)) => config.faults.push(fault.parse().ok()?),
            Some(("update-key", key)) => config.update_keys.push(key_from(key)?),
            Some(("target", "blank")) => config.target = Some(TargetConfig::blank()),
            Some(("target", "locked")) => config.target = Some(TargetConfig::locked()),
            Some(("part", name)) => config.target.as_mut()?.part = TargetPart::named(name)?,
            Some(("worn", address)) => config.target.as_mut()?.worn = Some(address_from(address)?),
            Some(("target", "demo")) => config.target = Some(TargetConfig::demo()),
            Some(("target", name)) => {
                config.target = Some(TargetConfig {
                    part: TargetPart::named(name)?,
                    ..TargetConfig::demo()
                });
            }
            None if word == "target" => config.target = Some(TargetConfig::demo()),
            None if word == "dc" => config.ac_dac = false,
            _ => return None,
        }
    }
    Some(config)
}

/// 32 bytes, as hexadecimal digits.
fn key_from(digits: &str) -> Option<[u8; 32]> {
    <[u8; 32]>::from_hex(digits).ok()
}

/// An address of 32 bits: hexadecimal after `0x`, otherwise decimal.
fn address_from(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    //! Addresses that name a pod, and others that do not.

    use pod_protocol::driver::{AddressError, transport};

    use super::Driver;

    #[test]
    fn an_address_names_a_board_and_what_is_special_about_it() {
        for good in [
            "sim:v3",
            "sim:v3,target=locked",
            "sim:v3,target=blank,part=STM32F030RC,worn=0x08000400",
            "sim:v3,target=stm32f446",
            "sim:v3,target=blank,part=STM32F446RE",
            "sim:digital,seed=9",
            "sim:v2,dc",
            "sim:v3,memory=200000",
        ] {
            let transport = transport(&[&Driver], good);
            assert_eq!(transport.unwrap().kind(), "sim", "{good}");
        }
    }

    #[test]
    fn an_address_that_means_nothing_is_refused() {
        for bad in [
            "sim:v9",
            "sim:v3,seed=x",
            "sim:v3,fast",
            "sim:v3,memory=much",
            "sim:v3,target=none",
            "sim:v3,worn=0x08000000",
            "sim:v3,target,part=STM32F4",
            "sim:v3,target,worn=0x",
        ] {
            let error = transport(&[&Driver], bad).err().unwrap();
            assert!(matches!(error, AddressError::Malformed { .. }), "{bad}");
        }
    }
}
