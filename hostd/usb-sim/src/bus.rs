//! A device and what the controller wants of it.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::io;
use std::pin::Pin;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;

use super::control;
use super::descriptors::Descriptors;
use super::endpoint::{Form, Input, Output, Shared};
use super::pace::Pace;
use super::usbip::{Command, Replies};

/// A control request, as it is sent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setup {
    /// Direction, kind and recipient (`bmRequestType`).
    pub request_type: u8,
    /// The request (`bRequest`).
    pub request: u8,
    /// `wValue`.
    pub value: u16,
    /// `wIndex`: for an interface its number.
    pub index: u16,
    /// Bytes that follow, or that may be answered (`wLength`).
    pub length: u16,
}

impl Setup {
    pub(crate) fn of(bytes: &[u8; 8]) -> Self {
        let word = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        Self {
            request_type: bytes[0],
            request: bytes[1],
            value: word(2),
            index: word(4),
            length: word(6),
        }
    }
}

/// The answer to a control request.
pub type Answer<'a> = Pin<Box<dyn Future<Output = Option<Vec<u8>>> + Send + 'a>>;

/// A simulated device.
pub trait Device: Send + 'static {
    /// What it says about itself.
    fn descriptors(&self) -> Descriptors;

    /// Takes its endpoints, once, when it is plugged in. It runs until it is unplugged, which its endpoints tell it.
    fn start(&mut self, bus: &mut Bus);

    /// Answers a control request that is not one of the standard ones, or asks for a descriptor of an interface's class:
    /// with bytes if it asks for some. `None` refuses it. Nothing else of the device is answered meanwhile.
    fn control<'a>(&'a mut self, setup: Setup, bytes: &'a [u8]) -> Answer<'a>;
}

/// The endpoints of a device that is being plugged in.
#[derive(Debug)]
pub struct Bus {
    endpoints: HashMap<u8, Shared>,
    pace: Pace,
    replies: Replies,
}

impl Bus {
    /// The endpoint on which the device sends a stream of bytes. Its address has bit 7 set.
    pub fn input(&mut self, address: u8) -> Input {
        self.take_input(address, Form::Stream)
    }

    /// The same, for messages: each is a transfer of its own.
    pub fn message_input(&mut self, address: u8) -> Input {
        self.take_input(address, Form::Messages)
    }

    /// The same, for devices that send nothing but full packets: a transfer ends when it is full.
    pub fn full_input(&mut self, address: u8) -> Input {
        self.take_input(address, Form::Full)
    }

    fn take_input(&mut self, address: u8, form: Form) -> Input {
        let shared = Shared::new(form, self.pace.clone());
        self.endpoints.insert(address | 0x80, shared.clone());
        let replies = self.replies.clone();
        Input { shared, replies }
    }

    /// The endpoint on which the device receives.
    pub fn output(&mut self, address: u8) -> Output {
        let shared = Shared::new(Form::Messages, self.pace.clone());
        self.endpoints.insert(address & 0x7F, shared.clone());
        let replies = self.replies.clone();
        Output::new(shared, replies)
    }

    /// Lets endpoints go on whenever the bus has become free, each in its turn.
    async fn resume(&self) -> Infallible {
        let mut turns: VecDeque<_> = self.endpoints.values().collect();
        loop {
            self.pace.freed().await;
            for endpoint in &turns {
                endpoint.resume(&self.replies);
            }
            if let Some(first) = turns.pop_front() {
                turns.push_back(first);
            }
        }
    }

    async fn answer(&self, device: &mut dyn Device, command: Command) {
        let replies = &self.replies;
        match command {
            Command::Unlink { sequence, victim } => {
                let mut endpoints = self.endpoints.values();
                let was_pending = endpoints.any(|endpoint| endpoint.unlink(victim));
                replies.unlinked(sequence, was_pending);
            }
            Command::In {
                sequence,
                endpoint: 0,
                length,
                setup,
            } => match request(device, setup, &[]).await {
                Some(mut bytes) => {
                    bytes.truncate(length);
                    replies.completed_in(sequence, &bytes);
                }
                None => replies.stalled(sequence),
            },
            Command::Out {
                sequence,
                endpoint: 0,
                bytes,
                setup,
            } => match request(device, setup, &bytes).await {
                Some(_) => replies.completed_out(sequence, bytes.len()),
                None => replies.stalled(sequence),
            },
            Command::In {
                sequence,
                endpoint,
                length,
                ..
            } => match self.endpoints.get(&(endpoint | 0x80)) {
                Some(endpoint) => endpoint.submit_in(sequence, length, replies),
                None => replies.stalled(sequence),
            },
            Command::Out {
                sequence,
                endpoint,
                bytes,
                ..
            } => match self.endpoints.get(&endpoint) {
                Some(endpoint) => endpoint.submit_out(sequence, bytes, replies),
                None => replies.stalled(sequence),
            },
        }
    }
}

async fn request(device: &mut dyn Device, setup: Setup, bytes: &[u8]) -> Option<Vec<u8>> {
    if control::is_standard(&setup) {
        return control::answer(&device.descriptors(), &setup);
    }
    device.control(setup, bytes).await
}

/// Plugs the device in at the other end of these wires, until that end closes.
pub(crate) async fn serve(
    mut device: Box<dyn Device>,
    pace: Pace,
    mut reader: impl AsyncRead + Unpin,
    mut writer: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    let (send, mut replies) = mpsc::unbounded_channel();
    let mut bus = Bus {
        endpoints: HashMap::new(),
        pace,
        replies: Replies(send),
    };
    device.start(&mut bus);
    let unplug = Unplug(bus);
    let answering = async {
        while let Some(command) = Command::read(&mut reader).await {
            unplug.0.answer(&mut *device, command).await;
        }
        Ok(())
    };
    let replying = async {
        while let Some(reply) = replies.recv().await {
            writer.write_all(&reply).await?;
        }
        Ok(())
    };
    tokio::select! {
        ended = answering => ended,
        ended = replying => ended,
        never = unplug.0.resume() => match never {},
    }
}

/// Ends the endpoints, however the service ends.
struct Unplug(Bus);

impl Drop for Unplug {
    fn drop(&mut self) {
        for endpoint in self.0.endpoints.values() {
            endpoint.end();
        }
    }
}
