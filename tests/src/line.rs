//! A client of a device's UART, written from docs/live-streams.md. It panics when the server does anything
//! else, as a test does.

#![allow(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a test fails by panicking"
)]

use serde_json::Value;
use tungstenite::Message;

use crate::socket::Socket;

/// A client of a line, written from docs/live-streams.md.
#[derive(Debug)]
pub struct Line {
    pub socket: Socket,
    /// Text messages that came while bytes were read.
    pub told: Vec<Value>,
    /// The first message.
    pub opened: Value,
    /// Position of the next byte.
    pub offset: u64,
}

impl Line {
    /// The client of an open socket, after its first message.
    #[must_use]
    pub fn new(mut socket: Socket) -> Self {
        let Message::Text(text) = socket.message().unwrap() else {
            panic!("the first message is a text");
        };
        let opened: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(opened["type"], "open", "{opened}");
        Self {
            socket,
            told: Vec::new(),
            offset: opened["offset"].as_u64().unwrap(),
            opened,
        }
    }

    /// Bytes for the target.
    pub fn write(&mut self, bytes: &[u8]) {
        self.socket.send(bytes).unwrap();
    }

    /// Exactly this many bytes from the target.
    pub fn read(&mut self, count: usize) -> Vec<u8> {
        let mut read = Vec::new();
        while read.len() < count {
            self.take(&mut read);
        }
        assert_eq!(read.len(), count, "{:?}", String::from_utf8_lossy(&read));
        read
    }

    /// Exactly this text from the target.
    pub fn expect(&mut self, text: &[u8]) {
        let read = self.read(text.len());
        assert_eq!(
            String::from_utf8_lossy(&read),
            String::from_utf8_lossy(text)
        );
    }

    /// Everything that comes, up to the message that ends `text`.
    pub fn until(&mut self, text: &[u8]) -> Vec<u8> {
        let mut read = Vec::new();
        while !contains(&read, text) {
            self.take(&mut read);
        }
        read
    }

    /// Whether `text` comes before a text message of this type.
    pub fn until_told(&mut self, text: &[u8], kind: &str) -> bool {
        let mut read = Vec::new();
        while !contains(&read, text) {
            if let Some(at) = self.told.iter().position(|told| told["type"] == kind) {
                self.told.remove(at);
                return false;
            }
            self.take(&mut read);
        }
        true
    }

    /// Read the next message: bytes, or a text message, which is kept.
    fn take(&mut self, read: &mut Vec<u8>) {
        match self.socket.message().unwrap() {
            Message::Binary(bytes) => {
                self.offset += bytes.len() as u64;
                read.extend_from_slice(&bytes);
            }
            Message::Text(text) => {
                let told: Value = serde_json::from_str(&text).unwrap();
                if told["type"] == "overrun" {
                    self.offset = told["to"].as_u64().unwrap();
                }
                self.told.push(told);
            }
            other => panic!("{other:?} in place of bytes or a text"),
        }
    }

    /// The next text message of this type.
    pub fn told(&mut self, kind: &str) -> Value {
        loop {
            if let Some(at) = self.told.iter().position(|told| told["type"] == kind) {
                return self.told.remove(at);
            }
            self.take(&mut Vec::new());
        }
    }

    /// Send a control message.
    pub fn say(&mut self, control: &Value) {
        self.socket.send_text(&control.to_string()).unwrap();
    }
}

fn contains(read: &[u8], text: &[u8]) -> bool {
    read.windows(text.len()).any(|part| part == text)
}
