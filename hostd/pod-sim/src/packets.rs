//! The lines in which a capture is sent. They are formatted directly as text, because a capture has
//! thousands.

use pod_protocol::capture::Trigger;
use pod_protocol::chunk;
use pod_protocol::connection::Stream;
use serde::Serialize;
use serde_json::{Value, json};

use super::PACKET_SAMPLES_MAX;
use super::client::{Client, Gone};
use super::hold::Hold;
use super::shared::Shared;

/// Packets are collected up to this many bytes before they are sent, since most are tiny.
const SEND_BYTES: usize = 16 * 1024;

/// A line being built: its fields, each preceded by a comma.
pub(crate) struct Packet(Vec<u8>);

impl Packet {
    /// ADC counts, as base64 or decimal.
    pub(crate) fn adc(counts: &[u16], b64: bool) -> Self {
        let mut packet = Self(Vec::new());
        if b64 {
            packet.field("b64", &chunk::encode_b64(counts));
        } else {
            packet.field("data", counts);
        }
        packet
    }

    /// LA edges up to a sample.
    pub(crate) fn la(edges: &[(u64, u16)], upto: u64) -> Self {
        let mut packet = Self(Vec::new());
        packet.field("la", &true);
        packet.field("la_edges", edges);
        packet.field("la_upto", &upto);
        packet
    }

    /// Adds the trigger that fired.
    pub(crate) fn trigger(&mut self, trigger: Option<Trigger>) {
        if let Some(Trigger { channel, edge, .. }) = trigger {
            let report = json!({"la": channel, "edge": edge.name(), "fired": true});
            self.field("trigger", &report);
        }
    }

    fn field(&mut self, name: &str, value: &(impl Serialize + ?Sized)) {
        self.0.extend([b',', b'"']);
        self.0.extend(name.as_bytes());
        self.0.extend(b"\":");
        serde_json::to_writer(&mut self.0, value).expect("numbers and texts can be written");
    }
}

/// Number of samples in one packet, as configured.
pub(crate) fn packet_samples(shared: &Shared) -> u64 {
    let asked = shared.with(|world, _| world.config.packet_samples);
    u64::from(asked.clamp(1, PACKET_SAMPLES_MAX))
}

/// The packets of one reply: the first has the head, all but the last say that more follow.
pub(crate) struct Packets<'a, S> {
    client: &'a mut Client<S>,
    head: Vec<(&'static str, Value)>,
    samples: u64,
    first: bool,
    waiting: Vec<u8>,
    hold: Option<Hold>,
}

impl<'a, S: Stream> Packets<'a, S> {
    pub(crate) fn new(
        client: &'a mut Client<S>,
        head: Vec<(&'static str, Value)>,
        samples: u64,
    ) -> Self {
        Self {
            client,
            head,
            samples,
            first: true,
            waiting: Vec::new(),
            hold: None,
        }
    }

    /// Releases the capture hardware before the last packet is sent: a client that has it may
    /// capture again.
    pub(crate) fn releasing(mut self, hold: Hold) -> Self {
        self.hold = Some(hold);
        self
    }

    /// Maximum number of samples in a packet.
    pub(crate) fn samples(&self) -> u64 {
        self.samples
    }

    pub(crate) async fn send(&mut self, mut packet: Packet, last: bool) -> Result<(), Gone> {
        let status = if self.first { "ok" } else { "chunk" };
        self.first = false;
        for (name, value) in self.head.drain(..) {
            packet.field(name, &value);
        }
        let mut line = format!("{{\"status\":\"{status}\",\"more\":{}", !last).into_bytes();
        line.extend(packet.0);
        line.push(b'}');
        self.client.append(&mut self.waiting, &line);
        if last {
            self.hold = None;
        }
        if last || self.waiting.len() >= SEND_BYTES {
            self.client.write_raw(&self.waiting).await?;
            self.waiting.clear();
        }
        Ok(())
    }
}
