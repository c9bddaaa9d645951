//! Packets to a probe and back, in order, over USB or TCP.

use std::io;

use tokio::time::{Duration, timeout};

use super::tcp::Tcp;
use super::usb::Usb;
use crate::place::Place;

/// Time for the probe to take a packet.
const SEND_TIMEOUT: Duration = Duration::from_secs(3);

/// Time for the answer to a packet of this side.
const EXCHANGE_TIMEOUT: Duration = Duration::from_secs(5);

/// A probe that is open.
#[derive(Debug)]
pub(super) enum Link {
    Usb(Usb),
    Tcp(Tcp),
}

impl Link {
    pub(super) async fn open(place: &Place) -> io::Result<Self> {
        match place {
            Place::Usb(id) => Usb::open(id).await.map(Self::Usb),
            Place::Tcp(address) => Tcp::open(address).await.map(Self::Tcp),
        }
    }

    /// Whether it is still there.
    pub(super) async fn look(&mut self) -> io::Result<()> {
        match self {
            Self::Usb(usb) => usb.look().await,
            Self::Tcp(tcp) => tcp.look(),
        }
    }

    pub(super) async fn send(&mut self, packet: &[u8]) -> io::Result<()> {
        match self {
            Self::Usb(usb) => usb.send(packet, SEND_TIMEOUT).await,
            Self::Tcp(tcp) => timeout(SEND_TIMEOUT, tcp.send(packet))
                .await
                .unwrap_or_else(|_| Err(io::Error::other("it takes nothing"))),
        }
    }

    /// The answer to the oldest packet. Cancelling loses nothing.
    pub(super) async fn receive(&mut self) -> io::Result<Vec<u8>> {
        match self {
            Self::Usb(usb) => usb.receive().await,
            Self::Tcp(tcp) => tcp.receive().await,
        }
    }

    /// Sends a packet while none is under way, and returns its answer, which begins alike.
    pub(super) async fn exchange(&mut self, packet: &[u8]) -> io::Result<Vec<u8>> {
        self.send(packet).await?;
        let answer = timeout(EXCHANGE_TIMEOUT, self.receive()).await;
        let answer = answer.unwrap_or_else(|_| Err(io::Error::other("it does not answer")))?;
        if answer.first() == packet.first() {
            Ok(answer)
        } else {
            Err(io::Error::other("it answers out of order"))
        }
    }
}
