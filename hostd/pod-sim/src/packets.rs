//! The lines in which a capture is sent. They are formatted directly as text, because a capture has
//! thousands.

use std::ops::Range;

use pod_protocol::SAMPLE_BYTES;
use pod_protocol::capture::Trigger;
use pod_protocol::chunk::{self, raw};
use pod_protocol::connection::Stream;
use serde::Serialize;
use serde_json::Value;

use super::PACKET_SAMPLES_MAX;
use super::client::{Client, Gone};
use super::encoding::Encoding;
use super::hold::Hold;
use super::shared::Shared;

/// Packets are collected up to this many bytes before they are sent, since most are tiny.
const SEND_BYTES: usize = 16 * 1024;

/// A line being built: its fields, each preceded by a comma, and the bytes that follow it.
pub(crate) struct Packet {
    fields: Vec<u8>,
    raw: Vec<u8>,
}

impl Packet {
    fn empty() -> Self {
        let (fields, raw) = (Vec::new(), Vec::new());
        Self { fields, raw }
    }

    /// ADC counts.
    pub(crate) fn adc(counts: &[u16], encoding: Encoding) -> Self {
        let mut packet = Self::empty();
        match encoding {
            Encoding::Text => packet.field("data", counts),
            Encoding::Base64 => packet.field("b64", &chunk::encode_b64(counts)),
            Encoding::Raw => packet.follows(raw::encode(counts)),
        }
        packet
    }

    /// LA edges up to a sample.
    pub(crate) fn la(edges: &[(u64, u16)], upto: u64) -> Self {
        let mut packet = Self::empty();
        packet.field("la", &true);
        packet.field("la_edges", edges);
        packet.field("la_upto", &upto);
        packet
    }

    /// LA samples that were lost.
    pub(crate) fn gap(range: Range<u64>) -> Self {
        let mut packet = Self::la(&[], range.end);
        packet.field("la_gap", &[range.start, range.end]);
        packet
    }

    /// LA samples as bytes: runs or words, whichever is shorter. `word` is that of the first sample, and `edges` has the
    /// changes after it.
    pub(crate) fn la_raw(word: u16, edges: &[(u64, u16)], range: Range<u64>) -> Self {
        let mut packet = Self::empty();
        packet.field("la", &true);
        let words_bytes = 2 * (range.end - range.start);
        if (4 * edges.len() as u64) < words_bytes {
            let runs = raw::encode_runs(word, edges, range.start, range.end);
            packet.field("la_runs", &true);
            packet.follows(runs);
            return packet;
        }
        let mut words = Vec::new();
        let mut word = word;
        let mut edges = edges.iter().copied().peekable();
        for at in range {
            if let Some((_, next)) = edges.next_if(|(edge, _)| *edge == at) {
                word = next;
            }
            words.push(word);
        }
        packet.follows(raw::encode(&words));
        packet
    }

    fn follows(&mut self, bytes: Vec<u8>) {
        self.field("raw", &bytes.len());
        self.raw = bytes;
    }

    /// Adds the trigger that fired.
    pub(crate) fn trigger(&mut self, trigger: Option<Trigger>) {
        if let Some(trigger) = trigger {
            self.field("trigger", &trigger.report());
        }
    }

    fn field(&mut self, name: &str, value: &(impl Serialize + ?Sized)) {
        self.fields.extend([b',', b'"']);
        self.fields.extend(name.as_bytes());
        self.fields.extend(b"\":");
        serde_json::to_writer(&mut self.fields, value).expect("numbers and texts can be written");
    }
}

/// Samples in one packet of bytes.
const RAW_SAMPLES: u64 = raw::RAW_BYTES_MAX as u64 / SAMPLE_BYTES;

/// Number of samples in one packet: of text as configured.
pub(crate) fn packet_samples(shared: &Shared, encoding: Encoding) -> u64 {
    if encoding == Encoding::Raw {
        return RAW_SAMPLES;
    }
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

    /// Sends what was collected.
    pub(crate) async fn flush(&mut self) -> Result<(), Gone> {
        self.client.write_raw(&self.waiting).await?;
        self.waiting.clear();
        Ok(())
    }

    /// Ends when the client closes.
    pub(crate) async fn closed(&mut self) {
        self.client.closed().await;
    }

    pub(crate) async fn send(&mut self, mut packet: Packet, last: bool) -> Result<(), Gone> {
        let status = if self.first { "ok" } else { "chunk" };
        self.first = false;
        for (name, value) in self.head.drain(..) {
            packet.field(name, &value);
        }
        let mut line = format!("{{\"status\":\"{status}\",\"more\":{}", !last).into_bytes();
        line.extend(packet.fields);
        line.push(b'}');
        self.client.append(&mut self.waiting, &line);
        self.waiting.extend(packet.raw);
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
