//! Packets to a probe and back, in order, over USB or TCP.

use std::io;

use nusb::DeviceInfo;
use pod_protocol::dap_frame::DAP_PACKET_BYTES_MAX;
use tokio::time::{Duration, timeout};

use super::hid::Hid;
use super::interface::{self, Version};
use super::tcp::Tcp;
use super::usb::Usb;
use super::vendor::Family;
#[cfg(feature = "vendor-probes")]
use super::vendor::Vendor;
use crate::address::{Address, UsbId};
use crate::usb::find;

/// Time for the probe to take a packet.
const SEND_TIMEOUT: Duration = Duration::from_secs(3);

/// Time for the answer to a packet of this side.
const EXCHANGE_TIMEOUT: Duration = Duration::from_secs(5);

/// A probe that is open.
#[derive(Debug)]
pub(super) enum Link {
    Usb(Usb),
    Hid(Hid),
    Tcp(Tcp),
    #[cfg(feature = "vendor-probes")]
    Vendor(Vendor),
}

impl Link {
    pub(super) async fn open(address: &Address) -> io::Result<Self> {
        match address {
            Address::Usb(id) => Self::on_usb(id).await,
            Address::Tcp(address) => Tcp::open(address).await.map(Self::Tcp),
        }
    }

    async fn on_usb(id: &UsbId) -> io::Result<Self> {
        let what = format!("the probe {id}");
        let device = find(&what, |device| id.means(device)).await?;
        let interfaces: Vec<_> = device.interfaces().collect();
        let told = interfaces.iter().map(|interface| {
            let name = interface.interface_string();
            (interface.class(), name.unwrap_or_default())
        });
        let Some((place, version)) = interface::of(device.product_string(), told) else {
            return Self::vendor(&what, &device).await;
        };
        let number = interfaces[place].interface_number();
        match version {
            Version::First => Hid::open(what, &device, number).await.map(Self::Hid),
            Version::Second => Usb::open(what, &device, number).await.map(Self::Usb),
        }
    }

    /// The link to a probe that has nothing but a protocol of its own.
    async fn vendor(what: &str, device: &DeviceInfo) -> io::Result<Self> {
        let Some(family) = Family::of((device.vendor_id(), device.product_id())) else {
            let none = "is no probe: it is neither a J-Link nor an ST-Link, and neither its interfaces nor its product \
                        are named CMSIS-DAP";
            return Err(io::Error::other(format!("{what} {none}")));
        };
        #[cfg(feature = "vendor-probes")]
        let opened = Vendor::open(what, device, family).await.map(Self::Vendor);
        #[cfg(not(feature = "vendor-probes"))]
        let opened = Err(unsupported(what, family));
        opened
    }

    /// Most bytes of a packet.
    pub(super) fn packet_bytes(&self) -> usize {
        match self {
            Self::Hid(hid) => hid.packet_bytes(),
            // What fits into a frame of the session that brings it.
            Self::Usb(_) | Self::Tcp(_) => DAP_PACKET_BYTES_MAX,
            #[cfg(feature = "vendor-probes")]
            Self::Vendor(_) => vendor_probes::PACKET_BYTES,
        }
    }

    /// Whether it is still there.
    pub(super) async fn look(&mut self) -> io::Result<()> {
        match self {
            Self::Usb(usb) => usb.look().await,
            Self::Hid(hid) => hid.look().await,
            Self::Tcp(tcp) => tcp.look(),
            #[cfg(feature = "vendor-probes")]
            Self::Vendor(vendor) => vendor.look().await,
        }
    }

    pub(super) async fn send(&mut self, packet: &[u8]) -> io::Result<()> {
        match self {
            Self::Usb(usb) => usb.send(packet, SEND_TIMEOUT).await,
            Self::Hid(hid) => hid.send(packet, SEND_TIMEOUT).await,
            Self::Tcp(tcp) => timeout(SEND_TIMEOUT, tcp.send(packet))
                .await
                .unwrap_or_else(|_| Err(io::Error::other("it takes nothing"))),
            #[cfg(feature = "vendor-probes")]
            Self::Vendor(vendor) => vendor.send(packet, SEND_TIMEOUT).await,
        }
    }

    /// Whether all packets could be sent, as far as that is known. Where sending waits for that, it has told.
    pub(super) fn sent(&mut self) -> io::Result<()> {
        match self {
            Self::Usb(usb) => usb.sent(),
            Self::Hid(hid) => hid.sent(),
            Self::Tcp(_) => Ok(()),
            #[cfg(feature = "vendor-probes")]
            Self::Vendor(_) => Ok(()),
        }
    }

    /// The answer to the oldest packet, perhaps with zeros behind it. Cancelling loses nothing.
    pub(super) async fn receive(&mut self) -> io::Result<Vec<u8>> {
        match self {
            Self::Usb(usb) => usb.receive().await,
            Self::Hid(hid) => hid.receive().await,
            Self::Tcp(tcp) => tcp.receive().await,
            #[cfg(feature = "vendor-probes")]
            Self::Vendor(vendor) => vendor.receive().await,
        }
    }

    /// Sends a packet while none is under way, and returns its answer, which begins alike.
    pub(super) async fn exchange(&mut self, packet: &[u8]) -> io::Result<Vec<u8>> {
        self.send(packet).await?;
        let Ok(answer) = timeout(EXCHANGE_TIMEOUT, self.receive()).await else {
            self.sent()?;
            return Err(io::Error::other("it does not answer"));
        };
        let answer = answer?;
        if answer.first() == packet.first() {
            Ok(answer)
        } else {
            Err(io::Error::other("it answers out of order"))
        }
    }
}

#[cfg(not(feature = "vendor-probes"))]
fn unsupported(what: &str, family: Family) -> io::Error {
    io::Error::new(
        io::ErrorKind::Unsupported,
        format!(
            "{what} speaks the protocol of {family} alone, and this hostd was built without the feature `vendor-probes`: use one that has it"
        ),
    )
}
