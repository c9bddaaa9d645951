//! SCPI over USB: the test and measurement class (USBTMC), a header of 12 bytes before each message.

use std::io;
use std::time::Duration;

use tokio::time::timeout;

use super::wire::{ANSWER_BYTES_MAX, late};
use crate::address::UsbId;
use crate::usb::{Pipe, explained, find};

/// Class and subclass of the interface.
pub(crate) const INTERFACE: (u8, u8) = (0xFE, 0x03);

const HEADER_BYTES: usize = 12;
const MESSAGE_OUT: u8 = 1;
const REQUEST_IN: u8 = 2;
const END_OF_MESSAGE: u8 = 1;

/// An instrument that is open.
pub(super) struct Usbtmc {
    pipe: Pipe,
    /// Number of the last message, 1 to 255.
    tag: u8,
}

impl Usbtmc {
    pub(super) async fn open(id: &UsbId) -> io::Result<Self> {
        let what = format!("the supply {id}");
        let device = find(&what, |device| id.means(device)).await?;
        let is_it = |class, subclass| (class, subclass) == INTERFACE;
        let mut interfaces = device.interfaces();
        let interface = interfaces.find(|found| is_it(found.class(), found.subclass()));
        let none = || io::Error::other(format!("{what} has no interface for test and measurement"));
        let number = interface.ok_or_else(none)?.interface_number();
        let told = |error| explained(&what, &error);
        let opened = device.open().await.map_err(told)?;
        // The kernel has a driver of its own for these.
        let claimed = opened
            .detach_and_claim_interface(number)
            .await
            .map_err(told)?;
        let pipe = Pipe::new(&what, &claimed, HEADER_BYTES + ANSWER_BYTES_MAX)?;
        Ok(Self { pipe, tag: 0 })
    }

    pub(super) async fn write(&mut self, command: &str, wait: Duration) -> io::Result<()> {
        let message = message(self.next_tag(), command);
        self.pipe.send(&message, wait).await
    }

    pub(super) async fn read(&mut self, wait: Duration) -> io::Result<String> {
        let tag = self.next_tag();
        self.pipe.send(&request(tag), wait).await?;
        let received = timeout(wait, self.pipe.receive()).await;
        let received = received.map_err(|_| late("did not answer"))??;
        answer(tag, &received).ok_or_else(|| io::Error::other("the supply's answer is malformed"))
    }

    fn next_tag(&mut self) -> u8 {
        self.tag = self.tag.checked_add(1).unwrap_or(1);
        self.tag
    }
}

fn header(kind: u8, tag: u8, bytes: usize, attributes: u8) -> [u8; HEADER_BYTES] {
    let [a, b, c, d] = u32::try_from(bytes).unwrap_or(u32::MAX).to_le_bytes();
    [kind, tag, !tag, 0, a, b, c, d, attributes, 0, 0, 0]
}

/// A command as one message, filled up to a multiple of four bytes.
fn message(tag: u8, command: &str) -> Vec<u8> {
    let text = format!("{command}\n");
    let mut message = header(MESSAGE_OUT, tag, text.len(), END_OF_MESSAGE).to_vec();
    message.extend(text.as_bytes());
    message.resize(message.len().next_multiple_of(4), 0);
    message
}

/// Asks for an answer.
fn request(tag: u8) -> [u8; HEADER_BYTES] {
    header(REQUEST_IN, tag, ANSWER_BYTES_MAX, 0)
}

/// The text of an answer, which must be whole.
pub(super) fn answer(tag: u8, received: &[u8]) -> Option<String> {
    let (head, rest) = received.split_first_chunk::<HEADER_BYTES>()?;
    let [kind, own, inverse, _, a, b, c, d, attributes, ..] = *head;
    let length = usize::try_from(u32::from_le_bytes([a, b, c, d])).ok()?;
    let is_one = kind == REQUEST_IN && own == tag && inverse == !tag;
    let is_whole = attributes & END_OF_MESSAGE != 0 && length <= ANSWER_BYTES_MAX;
    let text = rest.get(..length).filter(|_| is_one && is_whole)?;
    let text = String::from_utf8_lossy(text);
    Some(text.trim_end_matches(['\0', '\r', '\n', ' ']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_as_the_class_has_them() {
        let sent = message(7, "*IDN?");
        assert_eq!(sent[..12], [1, 7, 0xF8, 0, 6, 0, 0, 0, 1, 0, 0, 0]);
        assert_eq!(&sent[12..], b"*IDN?\n\0\0");
        assert_eq!(request(8), [2, 8, 0xF7, 0, 0, 4, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn only_whole_answers_to_the_last_request_count() {
        let good = [
            &[2, 9, 0xF6, 0, 4, 0, 0, 0, 1, 0, 0, 0][..],
            b"3.3\n\0\0\0\0",
        ]
        .concat();
        assert_eq!(answer(9, &good).as_deref(), Some("3.3"));
        assert_eq!(answer(8, &good), None);
        for (at, byte) in [(0, 1), (2, 0), (4, 200), (7, 1), (8, 0)] {
            let mut bad = good.clone();
            bad[at] = byte;
            assert_eq!(answer(9, &bad), None, "{at}");
        }
        assert_eq!(answer(9, &good[..11]), None);
        assert_eq!(answer(9, &good[..15]), None);
    }
}
