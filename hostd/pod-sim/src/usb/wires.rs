//! The endpoints of the link, as what carries it.

use std::any::Any;
use std::io;
use std::task::{Context, Poll};

use bytes::Bytes;
use pod_protocol::usb::{Incoming, Outgoing, Transfer};
use usb_sim::{Input, Output};

/// What comes from the host.
pub(super) struct FromHost<'a>(pub(super) &'a mut Output);

impl Incoming for FromHost<'_> {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<io::Result<Bytes>> {
        self.0.poll_next(context).map_ok(Bytes::from)
    }
}

/// What goes to the host.
pub(super) struct ToHost<'a>(pub(super) &'a mut Input);

impl Outgoing for ToHost<'_> {
    fn poll_room(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.poll_room(context)
    }

    fn send(&mut self, transfer: Transfer) {
        let transfer: Box<dyn Any> = transfer;
        let bytes = transfer.downcast::<Vec<u8>>();
        self.0.push(*bytes.expect("no other room was given"));
    }

    /// What is in the endpoint is fetched by the controller.
    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
