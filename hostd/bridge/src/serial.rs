//! A UART as a TCP port: raw bytes, or with the serial port's settings as RFC 2217 has them.
//!
//! The target does not wait for anybody: what a client is too slow for is dropped, and counted.

mod codec;
mod rfc2217;
mod serve;
mod setting;
mod telnet;

#[cfg(test)]
mod tests;

use bytes::Bytes;
use pod_protocol::Parity;
use tokio::sync::mpsc;

pub use codec::Codec;
pub use serve::{Served, serve};

pub(crate) use rfc2217::{Asked, Rfc2217};

/// To the target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToLine {
    /// What a client wrote.
    Bytes(Bytes),
    /// Bits per second from here on, [`UART_BAUD_MIN`](pod_protocol::UART_BAUD_MIN) to
    /// [`UART_BAUD_MAX`](pod_protocol::UART_BAUD_MAX).
    Baud(u32),
    /// With this parity bit from here on. Only for a line that has a parity.
    Parity(Parity),
    /// Hold the target's receive line low for a while.
    Break,
}

/// From the target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FromLine {
    /// What the target sent.
    Bytes(Bytes),
    /// The line has this rate now, whoever asked for it.
    Baud(u32),
    /// The line has this parity now, whoever asked for it.
    Parity(Parity),
    /// A break is over, whoever asked for it.
    Broke,
}

/// One client's end of a UART line. The channels' bounds bound what is on its way.
#[derive(Debug)]
pub struct Line {
    /// Closed when the line has ended.
    pub to: mpsc::Sender<ToLine>,
    /// Ends when the line has ended.
    pub from: mpsc::Receiver<FromLine>,
    /// Bits per second at the beginning.
    pub baud: u32,
    /// Its parity at the beginning; none if it never has a parity bit.
    pub parity: Option<Parity>,
}
