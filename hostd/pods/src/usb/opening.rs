//! Opens a pod: the first of those meant that can be had.

use std::io;
use std::pin::Pin;
use std::time::Duration;

use nusb::descriptors::TransferType;
use nusb::transfer::{Bulk, ControlOut, ControlType, Direction, In, Out, Recipient};
use nusb::{DeviceInfo, ErrorKind, Interface};
use pod_protocol::usb::{Link, LinkError, NONCE_BYTES, REQUEST_RESET};
use tokio::time::timeout;

use super::plugged::{Plugged, Tried, devices};
use super::selector::Selector;
use super::transfers::{FromPod, ToPod};

/// How long a pod may take to answer the greeting, and a control request.
const GREETING_TIMEOUT: Duration = Duration::from_secs(2);

/// What drives a link, until that ends.
type Driving = Pin<Box<dyn Future<Output = LinkError> + Send>>;

/// The first meant pod that can be opened: its port, the link, and what drives it.
///
/// # Errors
/// Why none can be, with what to do about it.
pub(super) async fn open(
    selector: &Selector,
    tried: &Tried,
) -> io::Result<(String, Link, Driving)> {
    let all = devices().await?;
    let mut meant: Vec<_> = all
        .into_iter()
        .filter(|(pod, _)| selector.means(pod))
        .collect();
    tried.order(&mut meant);
    let mut failed = None;
    for (pod, device) in meant {
        tried.add(device.id());
        match open_one(&pod, &device).await {
            Ok((link, drives)) => return Ok((pod.port, link, drives)),
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    let lack = || io::Error::new(io::ErrorKind::NotFound, selector.lack());
    Err(failed.unwrap_or_else(lack))
}

async fn open_one(pod: &Plugged, device: &DeviceInfo) -> io::Result<(Link, Driving)> {
    let explained = |error| explained(pod, error);
    let opened = device.open().await.map_err(explained)?;
    let interface = opened
        .claim_interface(pod.interface)
        .await
        .map_err(explained)?;
    let wrong = |what: &str| {
        let port = &pod.port;
        io::Error::other(format!("the pod on USB port {port} {what}"))
    };
    let reset = ControlOut {
        control_type: ControlType::Vendor,
        recipient: Recipient::Interface,
        request: REQUEST_RESET,
        value: 0,
        index: u16::from(pod.interface),
        data: &[],
    };
    interface
        .control_out(reset, GREETING_TIMEOUT)
        .await
        .map_err(|error| wrong(&format!("refuses to begin: {error}")))?;
    let (input, output) = endpoints(&interface).ok_or_else(|| wrong("has no bulk endpoints"))?;
    let reader = interface.endpoint::<Bulk, In>(input).map_err(explained)?;
    let writer = interface.endpoint::<Bulk, Out>(output).map_err(explained)?;
    let (reader, writer) = (FromPod::new(reader), ToPod::new(writer));
    let mut nonce = [0; NONCE_BYTES];
    getrandom::fill(&mut nonce).map_err(io::Error::other)?;
    let greeted = timeout(GREETING_TIMEOUT, Link::host(reader, writer, nonce)).await;
    match greeted {
        Ok(Ok((link, drives))) => Ok((link, Box::pin(drives))),
        Ok(Err(error)) => Err(wrong(&format!("cannot be used: {error}"))),
        Err(_) => Err(wrong("does not answer; unplug it and plug it in again")),
    }
}

/// The addresses of the endpoints that carry the link: the first bulk one each way.
fn endpoints(interface: &Interface) -> Option<(u8, u8)> {
    let descriptor = interface.descriptor()?;
    let address = |direction| {
        let mut endpoints = descriptor.endpoints();
        let found = endpoints.find(|endpoint| {
            endpoint.transfer_type() == TransferType::Bulk && endpoint.direction() == direction
        });
        found.map(|endpoint| endpoint.address())
    };
    Some((address(Direction::In)?, address(Direction::Out)?))
}

/// The system's error with what to do about it.
fn explained(pod: &Plugged, error: nusb::Error) -> io::Error {
    let port = &pod.port;
    match error.kind() {
        ErrorKind::PermissionDenied => io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!(
                "this user may not open the pod on USB port {port}: install the rule that `hostd udev` prints, and plug \
                 the pod in again"
            ),
        ),
        ErrorKind::Busy => io::Error::new(
            io::ErrorKind::ResourceBusy,
            format!(
                "the pod on USB port {port} is used by another program, perhaps a second server; stop that one"
            ),
        ),
        ErrorKind::Disconnected => io::Error::new(
            io::ErrorKind::NotConnected,
            format!("the pod on USB port {port} was unplugged"),
        ),
        _ => io::Error::other(format!(
            "the pod on USB port {port} cannot be used: {error}"
        )),
    }
}
