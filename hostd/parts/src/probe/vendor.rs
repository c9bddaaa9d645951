//! Probes that speak protocols of their makers: which those are, and the link to one through the drivers of
//! `vendor-probes`, which a build of hostd has with the feature of that name.

use std::fmt;

/// A family of probes with a protocol of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// SEGGER's J-Link.
    JLink,
    /// ST's ST-Link, from V2 on.
    StLink,
}

/// Whether this build of hostd has the drivers of such probes.
pub const IS_SUPPORTED: bool = cfg!(feature = "vendor-probes");

/// SEGGER's number, and the products that it has had before it put bits into their numbers. `0106` is a serial port alone.
const SEGGER: u16 = 0x1366;
const JLINKS: [u16; 7] = [0x0101, 0x0102, 0x0103, 0x0104, 0x0105, 0x0107, 0x0108];
/// These bits: a J-Link, with its own interface for SEGGER's driver or for WinUSB.
const IS_JLINK: u16 = 0x1000;
const HAS_OWN_INTERFACE: u16 = 0x0010 | 0x0020;

/// ST's number, and the products that are ST-Links from V2 on.
const ST: u16 = 0x0483;
const STLINKS: [u16; 10] = [
    0x3742, 0x3748, 0x374A, 0x374B, 0x374E, 0x374F, 0x3752, 0x3753, 0x3754, 0x3757,
];

/// The products of ST that are taken for ST-Links by a rule of udev, those of later probes among them.
const STLINK_PATTERN: &str = "37[45]?";

/// What udev compares to know these probes.
pub(crate) fn udev_matches() -> [String; 2] {
    [
        format!("ATTR{{idVendor}}==\"{SEGGER:04x}\""),
        format!("ATTR{{idVendor}}==\"{ST:04x}\", ATTR{{idProduct}}==\"{STLINK_PATTERN}\""),
    ]
}

impl Family {
    /// The family of a device with these numbers.
    pub(crate) fn of((vendor, product): (u16, u16)) -> Option<Self> {
        let is_jlink = JLINKS.contains(&product)
            || product & IS_JLINK != 0 && product & HAS_OWN_INTERFACE != 0;
        match vendor {
            SEGGER if is_jlink => Some(Self::JLink),
            ST if STLINKS.contains(&product) => Some(Self::StLink),
            _ => None,
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::JLink => "J-Link",
            Self::StLink => "ST-Link",
        })
    }
}

#[cfg(feature = "vendor-probes")]
mod link {
    use std::io;

    use nusb::{DeviceId, DeviceInfo};
    use tokio::time::{Duration, timeout};
    use vendor_probes::{Driver, PACKET_BYTES, PACKETS, Probe, Where};

    use super::super::{ANSWER_MAX, DAP_PACKET_BYTES_MAX, IN_FLIGHT_MAX};
    use super::Family;
    use crate::usb::{explained, still_there};

    const _: () =
        assert!(PACKET_BYTES <= DAP_PACKET_BYTES_MAX && PACKETS as usize <= IN_FLIGHT_MAX);

    /// Class of interfaces with a protocol of their makers.
    const OWN_CLASS: u8 = 0xFF;

    /// A probe with a protocol of its own.
    #[derive(Debug)]
    pub(in crate::probe) struct Vendor {
        probe: Probe,
        id: DeviceId,
        what: String,
    }

    impl Vendor {
        pub(in crate::probe) async fn open(
            what: &str,
            device: &DeviceInfo,
            family: Family,
        ) -> io::Result<Self> {
            let driver = match family {
                Family::JLink => Driver::JLink,
                Family::StLink => Driver::StLink,
            };
            let place = Where {
                vendor: device.vendor_id(),
                product: device.product_id(),
                serial: device.serial_number().map(str::to_owned),
            };
            let told = |error: io::Error| {
                let told = format!("{what} cannot be used: {error}");
                io::Error::new(error.kind(), told)
            };
            Probe::check(&place).map_err(told)?;
            may_use(what, device).await?;
            let probe = Probe::open(driver, place).await.map_err(told)?;
            Ok(Self {
                probe,
                id: device.id(),
                what: what.to_owned(),
            })
        }

        /// Whether it is still plugged in.
        pub(in crate::probe) async fn look(&self) -> io::Result<()> {
            still_there(&self.what, self.id).await
        }

        pub(in crate::probe) async fn send(
            &mut self,
            packet: &[u8],
            wait: Duration,
        ) -> io::Result<()> {
            let sent = timeout(wait, self.probe.send(packet.to_vec())).await;
            let sent = sent.unwrap_or_else(|_| Err(io::Error::other("it takes nothing")));
            match sent {
                Ok(()) => Ok(()),
                Err(error) => Err(self.explained(error).await),
            }
        }

        pub(in crate::probe) async fn receive(&mut self) -> io::Result<Vec<u8>> {
            match self.probe.receive().await {
                Ok(answer) => Ok(answer),
                Err(error) => Err(self.explained(error).await),
            }
        }

        /// What a driver says of a probe that was pulled out is less than that.
        async fn explained(&self, error: io::Error) -> io::Error {
            match timeout(ANSWER_MAX, self.look()).await {
                Ok(Err(gone)) => gone,
                _ => io::Error::other(format!("{} failed: {error}", self.what)),
            }
        }
    }

    /// Opens what the driver will, since that does not tell why it cannot.
    async fn may_use(what: &str, device: &DeviceInfo) -> io::Result<()> {
        let told = |error| explained(what, &error);
        let opened = device.open().await.map_err(told)?;
        let mut interfaces = device.interfaces();
        let own = interfaces.find(|found| found.class() == OWN_CLASS);
        if let Some(own) = own {
            let claimed = opened.claim_interface(own.interface_number()).await;
            claimed.map(drop).map_err(told)?;
        }
        Ok(())
    }
}

#[cfg(feature = "vendor-probes")]
pub(super) use link::Vendor;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_means_every_st_link() {
        let is_meant = |product: &u16| matches!(product >> 4, 0x374 | 0x375);
        assert_eq!(STLINK_PATTERN, "37[45]?");
        assert!(STLINKS.iter().all(is_meant));
        let told = [
            "ATTR{idVendor}==\"1366\"",
            "ATTR{idVendor}==\"0483\", ATTR{idProduct}==\"37[45]?\"",
        ];
        assert_eq!(udev_matches(), told);
    }

    #[test]
    fn families_by_their_numbers() {
        for (ids, family) in [
            ((0x1366, 0x0101), Some(Family::JLink)),
            ((0x1366, 0x0105), Some(Family::JLink)),
            ((0x1366, 0x1015), Some(Family::JLink)),
            ((0x1366, 0x1051), Some(Family::JLink)),
            ((0x1366, 0x1061), Some(Family::JLink)),
            // A serial port alone, and one that is CMSIS-DAP.
            ((0x1366, 0x0106), None),
            ((0x1366, 0x1008), None),
            ((0x0483, 0x3748), Some(Family::StLink)),
            ((0x0483, 0x374B), Some(Family::StLink)),
            ((0x0483, 0x374E), Some(Family::StLink)),
            // The first version, a bootloader, and a serial port.
            ((0x0483, 0x3744), None),
            ((0x0483, 0xDF11), None),
            ((0x0483, 0x5740), None),
            ((0x1209, 0x0101), None),
        ] {
            assert_eq!(Family::of(ids), family, "{ids:x?}");
        }
    }
}
