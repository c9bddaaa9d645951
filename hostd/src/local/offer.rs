//! Devices that runs without a server may have: simulated ones, and those that the command line names.

use std::sync::Arc;

use anyhow::{Context, bail};
use base::config::DeviceConfig;
use pods::Transport;
use pods::dial::Dialled;
use serde_json::{Map, Value, json};

use crate::demo::{self, Model};
use crate::drivers;

/// What the one device is called that was named without a name.
const UNNAMED: &str = "device";

/// A device that runs may have.
#[derive(Debug, Clone)]
pub struct Offer {
    /// What it is called.
    pub name: String,
    /// Where its pod is.
    pub address: String,
    /// What it is wired to, as a profile.
    pub wiring: Map<String, Value>,
    /// It fits runs that want a device of another name.
    pub has_any_name: bool,
    /// Nothing of it is real.
    pub is_simulated: bool,
    model: Option<Model>,
    /// The entry of the configuration that it is.
    configured: Option<DeviceConfig>,
}

impl Offer {
    /// The simulated ones, that of `hostd serve --demo` in front.
    #[must_use]
    pub fn simulated() -> Vec<Self> {
        let of = |model: &Model| Self {
            name: model.name.to_owned(),
            address: format!("sim:{}", model.name),
            wiring: model.wiring(),
            has_any_name: false,
            is_simulated: true,
            model: Some(*model),
            configured: None,
        };
        demo::MODELS.iter().map(of).collect()
    }

    /// Devices as `--device` names them: `ADDRESS`, `NAME=ADDRESS`, or the name of one of `configured`, which is
    /// asked for only then. `target` is the chip that they are wired to.
    ///
    /// # Errors
    /// There is no such address or name, or two have the same.
    pub fn named(
        asked: &[String],
        target: Option<&str>,
        configured: impl Fn() -> anyhow::Result<Vec<DeviceConfig>>,
    ) -> anyhow::Result<Vec<Self>> {
        let mut offers: Vec<Self> = Vec::new();
        for text in asked {
            let mut entry = None;
            let (name, address) = match split(text) {
                Asked::Address(address) => (None, address.to_owned()),
                Asked::Both(name, address) => (Some(name), address.to_owned()),
                Asked::Name(name) => {
                    let all = configured()?;
                    let found = all.into_iter().find(|device| device.name == name);
                    let found = found.with_context(|| {
                        format!("find the device {name}: the configuration has none of that name, and an address is as tcp:bench.example or sim:v3,target")
                    })?;
                    (Some(name), entry.insert(found).address.clone())
                }
            };
            let unnamed = match offers.len() {
                0 => UNNAMED.to_owned(),
                before => format!("{UNNAMED}-{}", before + 1),
            };
            let offer = Self {
                name: name.map_or(unnamed, str::to_owned),
                is_simulated: address.starts_with("sim:"),
                address,
                wiring: wiring(target),
                has_any_name: name.is_none(),
                model: None,
                configured: entry,
            };
            offer.transport()?;
            let is_same = |other: &Self| other.name == offer.name || other.address == offer.address;
            if offers.iter().any(is_same) {
                bail!("use {text}: another device has its name or its address");
            }
            offers.push(offer);
        }
        Ok(offers)
    }

    /// The device for people: a phrase that follows "on".
    pub(super) fn told(&self) -> String {
        match self.is_simulated {
            true => format!("{}, which is simulated", self.name),
            false => format!("{} at {}", self.name, self.address),
        }
    }

    pub(super) fn transport(&self) -> anyhow::Result<Arc<dyn Transport>> {
        match &self.model {
            Some(model) => Ok(model.pod()?),
            None => {
                let connect = drivers::connect(self.configured.as_slice(), &Dialled::new());
                connect(&self.address).context("reach the device")
            }
        }
    }
}

fn wiring(target: Option<&str>) -> Map<String, Value> {
    let told = target.map(|target| ("swd_target".to_owned(), json!(target)));
    told.into_iter().collect()
}

/// What a `--device` is.
#[derive(Debug, PartialEq, Eq)]
enum Asked<'a> {
    Address(&'a str),
    Both(&'a str, &'a str),
    Name(&'a str),
}

/// Addresses have a colon behind their scheme, and names have none.
fn split(text: &str) -> Asked<'_> {
    match (text.find(':'), text.split_once('=')) {
        (Some(colon), Some((name, address))) if name.len() < colon => Asked::Both(name, address),
        (Some(_), _) => Asked::Address(text),
        (None, _) => Asked::Name(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configured() -> anyhow::Result<Vec<DeviceConfig>> {
        Ok(vec![DeviceConfig {
            name: "bench-1".to_owned(),
            address: "tcp:bench.example:7000".to_owned(),
            ..DeviceConfig::default()
        }])
    }

    #[test]
    fn a_device_is_an_address_a_name_or_both() {
        assert_eq!(split("sim:v3,seed=7"), Asked::Address("sim:v3,seed=7"));
        assert_eq!(split("a=sim:v3,seed=7"), Asked::Both("a", "sim:v3,seed=7"));
        assert_eq!(split("bench-1"), Asked::Name("bench-1"));
        let asked = ["bench-1", "tcp:other.example", "sim=sim:v3"].map(str::to_owned);
        let offers = Offer::named(&asked, Some("STM32F030R8"), configured).unwrap();
        let told: Vec<_> = offers.iter().map(Offer::told).collect();
        assert_eq!(
            told,
            [
                "bench-1 at tcp:bench.example:7000",
                "device-2 at tcp:other.example",
                "sim, which is simulated"
            ]
        );
        let any: Vec<_> = offers.iter().map(|offer| offer.has_any_name).collect();
        assert_eq!(any, [false, true, false]);
        assert_eq!(offers[1].wiring["swd_target"], "STM32F030R8");
    }

    #[test]
    fn what_cannot_be_reached_is_refused_before_anything_begins() {
        for (asked, why) in [
            (&["none"][..], "find the device none"),
            (&["usb:1"], "reach the device"),
            (&["a=sim:v3", "a=sim:v2"], "another device has its name"),
            (
                &["sim:v3", "b=sim:v3"],
                "another device has its name or its address",
            ),
        ] {
            let asked: Vec<String> = asked.iter().map(|text| (*text).to_owned()).collect();
            let error = Offer::named(&asked, None, configured).unwrap_err();
            assert!(format!("{error:#}").contains(why), "{asked:?}: {error:#}");
        }
    }
}
