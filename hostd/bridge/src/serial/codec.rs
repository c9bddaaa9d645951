//! What the bytes of a client's connection mean.

use pod_protocol::Parity;

use super::telnet;
use super::{Asked, Rfc2217};

/// How a client's connection carries a UART.
#[derive(Debug)]
pub struct Codec(Kind);

#[derive(Debug)]
enum Kind {
    Raw,
    Rfc2217(Box<Rfc2217>),
}

impl Codec {
    /// The target's bytes and nothing else.
    #[must_use]
    pub fn raw() -> Self {
        Self(Kind::Raw)
    }

    /// RFC 2217, on a line with this rate, and this parity if it can have one; `signature` is what the port calls itself.
    #[must_use]
    pub fn rfc2217(baud: u32, parity: Option<Parity>, signature: &str) -> Self {
        Self(Kind::Rfc2217(Box::new(Rfc2217::new(
            baud, parity, signature,
        ))))
    }

    pub(super) fn greet(&mut self, out: &mut Vec<u8>) {
        if let Kind::Rfc2217(port) = &mut self.0 {
            port.greet(out);
        }
    }

    pub(super) fn receive(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Vec<Asked> {
        match &mut self.0 {
            Kind::Raw => vec![Asked::Bytes(bytes.to_vec())],
            Kind::Rfc2217(port) => port.receive(bytes, out),
        }
    }

    /// Bytes of the target for the client.
    pub(super) fn encode(&self, bytes: &[u8], out: &mut Vec<u8>) {
        match &self.0 {
            Kind::Raw => out.extend(bytes),
            Kind::Rfc2217(_) => telnet::escape(bytes, out),
        }
    }

    pub(super) fn is_suspended(&self) -> bool {
        match &self.0 {
            Kind::Raw => false,
            Kind::Rfc2217(port) => port.is_suspended(),
        }
    }

    pub(super) fn baud_is(&mut self, baud: u32, out: &mut Vec<u8>) {
        if let Kind::Rfc2217(port) = &mut self.0 {
            port.baud_is(baud, out);
        }
    }

    pub(super) fn parity_is(&mut self, parity: Parity, out: &mut Vec<u8>) {
        if let Kind::Rfc2217(port) = &mut self.0 {
            port.parity_is(parity, out);
        }
    }

    pub(super) fn broke(&mut self, out: &mut Vec<u8>) {
        if let Kind::Rfc2217(port) = &mut self.0 {
            port.broke(out);
        }
    }
}
