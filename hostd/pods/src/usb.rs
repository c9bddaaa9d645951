//! Pods on USB: many connections over the pair of bulk endpoints that a pod has for it.
//!
//! A pod is known by the class of its interface, whatever its vendor and product numbers are, and found by its serial
//! number or by the port that it is plugged into. The interface is claimed with the first connection and kept until
//! the transport is dropped, so that no other program gets between.

mod opening;
mod plugged;
mod selector;
mod transfers;

pub use plugged::{Plugged, Watch, plugged};

use std::io;
use std::sync::Arc;

use pod_protocol::connection::{Arriving, BoxedStream, Connecting, Transport};
use pod_protocol::driver::AddressError;
use pod_protocol::usb::Link;
use tokio::sync::Mutex;
use tokio::task::AbortHandle;
use tracing::info;

use opening::open;
use plugged::Tried;
use selector::Selector;

/// Connections kept to one pod over USB, whatever more it offers.
const CONNECTIONS_MAX: usize = 8;

/// How addresses of pods on USB begin, and what kind of transport records call it.
const SCHEME: &str = "usb";

const ADDRESS_FORM: &str =
    "serial=<serial number>, port=<bus>-<port>[.<port>…], or nothing for any pod";

/// A pod on USB.
pub(crate) struct UsbTransport {
    selector: Selector,
    link: Mutex<Option<Held>>,
    /// What was there and is not tried again before something changes or its pause is over.
    tried: Tried,
}

/// A link and the task that drives it, which ends with this.
struct Held {
    link: Link,
    driver: AbortHandle,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl UsbTransport {
    fn new(selector: Selector) -> Self {
        Self {
            selector,
            link: Mutex::new(None),
            tried: Tried::default(),
        }
    }

    /// The link that there is, or a new one.
    async fn link(&self) -> io::Result<Link> {
        let mut held = self.link.lock().await;
        if let Some(held) = held.as_ref().filter(|held| !held.link.has_ended()) {
            return Ok(held.link.clone());
        }
        // Before the interface is claimed again.
        *held = None;
        let (port, link, drives) = open(&self.selector, &self.tried).await?;
        let connections = link.channels_max();
        info!(port, connections, "opened a pod on USB");
        let driving = tokio::spawn(async move {
            let error = drives.await;
            info!(port, %error, "the link to a pod on USB ended");
        });
        *held = Some(Held {
            link: link.clone(),
            driver: driving.abort_handle(),
        });
        Ok(link)
    }
}

impl Transport for UsbTransport {
    fn kind(&self) -> &'static str {
        SCHEME
    }

    fn connections_max(&self) -> usize {
        CONNECTIONS_MAX
    }

    fn connect(&self) -> Connecting<'_> {
        Box::pin(async move {
            let stream = self.link().await?.open().await?;
            Ok(Box::new(stream) as BoxedStream)
        })
    }

    fn arrival(&self) -> Arriving<'_> {
        Box::pin(plugged::arrival(&self.selector, &self.tried))
    }
}

/// `usb`, `usb:serial=…`, `usb:port=…`.
pub struct Driver;

impl pod_protocol::driver::Driver for Driver {
    fn scheme(&self) -> &'static str {
        SCHEME
    }

    fn address_form(&self) -> &'static str {
        ADDRESS_FORM
    }

    fn transport(&self, address: &str) -> Result<Arc<dyn Transport>, AddressError> {
        match Selector::parse(address) {
            Some(selector) => Ok(Arc::new(UsbTransport::new(selector))),
            None => Err(AddressError::Malformed {
                address: address.to_owned(),
                form: ADDRESS_FORM,
            }),
        }
    }
}
