//! The ways this server reaches pods: over the network, on USB, and simulated ones in this process.

use std::sync::Arc;

use pods::{AddressError, Driver, Transport};

/// Every way to reach a pod. A new transport is one module and one line here.
static DRIVERS: &[&dyn Driver] = &[
    &pods::tcp::Driver,
    &pods::tls::Driver,
    &pods::usb::Driver,
    &pod_sim::Driver,
];

/// Prepares a transport for an address such as `tcp:10.0.0.7:8080` or `sim:v3,seed=7`.
///
/// # Errors
/// An unknown scheme, or a malformed rest.
pub fn transport(address: &str) -> Result<Arc<dyn Transport>, AddressError> {
    pods::transport(DRIVERS, address)
}

#[cfg(test)]
mod tests {
    //! Each scheme reaches its driver, and no other word does.

    use super::*;

    #[test]
    fn every_driver_is_reached_by_its_scheme() {
        for (address, kind) in [
            ("sim:v3", "sim"),
            ("tcp:bench.example:9000", "tcp"),
            ("tls:bench.example", "tls"),
            ("usb", "usb"),
            ("usb:port=1-2.3", "usb"),
        ] {
            assert_eq!(transport(address).unwrap().kind(), kind, "{address}");
        }
        let schemes: Vec<_> = DRIVERS.iter().map(|driver| driver.scheme()).collect();
        assert_eq!(schemes, ["tcp", "tls", "usb", "sim"]);
    }

    #[test]
    fn an_address_without_a_known_scheme_is_answered_with_those_there_are() {
        for address in ["v3", "hid:1", ""] {
            let error = transport(address).err().unwrap();
            assert!(matches!(error, AddressError::UnknownScheme { .. }));
            assert!(error.to_string().contains("tcp, tls, usb, sim"), "{error}");
        }
    }
}
