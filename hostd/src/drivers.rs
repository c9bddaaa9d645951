//! The ways this server reaches pods: over the network, on USB, where they dial in, simulated ones in this process, and
//! benches of plain parts that stand for one.

use std::sync::Arc;

use base::config::DeviceConfig;
use pods::dial::Dialled;
use pods::{AddressError, Driver, Transport};

/// Prepares transports for addresses such as `tcp:10.0.0.7:8080` or `sim:v3,seed=7`, for the benches of parts among
/// `devices`, and for the pods that dial in and are among `dialled`. A new transport is one module and one line here.
pub fn connect(
    devices: &[DeviceConfig],
    dialled: &Arc<Dialled>,
) -> impl Fn(&str) -> Result<Arc<dyn Transport>, AddressError> + Send + Sync + use<> {
    let parts = parts::Driver::new(devices);
    let dial = pods::dial::Driver(dialled.clone());
    move |address| {
        let all: [&dyn Driver; 6] = [
            &pods::tcp::Driver,
            &pods::tls::Driver,
            &pods::usb::Driver,
            &dial,
            &pod_sim::Driver,
            &parts,
        ];
        pods::transport(&all, address)
    }
}

/// Whether a device of the configuration can be reached some way.
///
/// # Errors
/// An unknown scheme, a malformed rest, or a table of its parts that makes no sense.
pub fn check(device: &DeviceConfig) -> Result<(), AddressError> {
    connect(std::slice::from_ref(device), &Dialled::new())(&device.address).map(drop)
}

#[cfg(test)]
mod tests {
    //! Each scheme reaches its driver, and no other word does.

    use base::config::{ProbePart, UartPart};

    use super::*;

    fn transport(address: &str) -> Result<Arc<dyn Transport>, AddressError> {
        connect(&[], &Dialled::new())(address)
    }

    #[test]
    fn every_driver_is_reached_by_its_scheme() {
        for (address, kind) in [
            ("sim:v3", "sim"),
            ("tcp:bench.example:9000", "tcp"),
            ("tls:bench.example", "tls"),
            ("usb", "usb"),
            ("usb:port=1-2.3", "usb"),
            ("dial:11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", "dial"),
        ] {
            let found = transport(address).unwrap();
            assert_eq!(found.kind(), kind, "{address}");
        }
    }

    #[test]
    fn an_address_without_a_known_scheme_is_answered_with_those_there_are() {
        for address in ["v3", "hid:1", ""] {
            let error = transport(address).err().unwrap();
            assert!(matches!(error, AddressError::UnknownScheme { .. }));
            let known = "tcp, tls, usb, dial, sim, parts";
            assert!(error.to_string().contains(known), "{error}");
        }
    }

    #[test]
    fn a_bench_of_parts_is_reached_by_its_name() {
        let mut device = DeviceConfig {
            name: "b".to_owned(),
            address: "parts:b".to_owned(),
            uart: Some(UartPart {
                path: "/dev/ttyUSB0".to_owned(),
                parity: base::config::Parity::None,
            }),
            ..DeviceConfig::default()
        };
        let reach = connect(&[device.clone()], &Dialled::new());
        assert_eq!(reach("parts:b").unwrap().kind(), "parts");
        assert!(reach("parts:c").is_err() && transport("parts:b").is_err());
        device.probe = Some(ProbePart {
            address: "usb:1".to_owned(),
        });
        let error = check(&device).unwrap_err().to_string();
        assert!(error.contains("probe.address `usb:1`"), "{error}");
    }
}
