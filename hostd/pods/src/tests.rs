//! Addresses and drivers.

use crate::{AddressError, DRIVERS, transport};

#[tokio::test]
async fn every_driver_is_reached_by_its_scheme() {
    for (address, kind) in [
        ("sim:v3", "sim"),
        ("sim:v3,target=locked", "sim"),
        (
            "sim:v3,target=blank,part=STM32F030RC,worn=0x08000400",
            "sim",
        ),
        ("sim:digital,seed=9", "sim"),
        ("sim:v2,dc", "sim"),
        ("tcp:bench.example:9000", "tcp"),
        ("tcp:[::1]", "tcp"),
        ("tls:bench.example", "tls"),
    ] {
        assert_eq!(transport(address).unwrap().kind(), kind, "{address}");
    }
    let schemes: Vec<_> = DRIVERS.iter().map(|driver| driver.scheme()).collect();
    assert_eq!(schemes, ["tcp", "tls", "sim"]);
}

#[test]
fn addresses_that_mean_nothing_are_refused() {
    for address in [
        "sim:v9",
        "sim:v3,seed=x",
        "sim:v3,fast",
        "sim:v3,target=none",
        "sim:v3,worn=0x08000000",
        "sim:v3,target,part=STM32F4",
        "sim:v3,target,worn=0x",
        "tcp:",
        "tcp:a b",
    ] {
        let error = transport(address).err().unwrap();
        assert!(matches!(error, AddressError::Malformed { .. }), "{address}");
    }
    for address in ["v3", "usb:1", ""] {
        let error = transport(address).err().unwrap();
        assert!(
            matches!(error, AddressError::UnknownScheme { .. }),
            "{address}"
        );
    }
}
