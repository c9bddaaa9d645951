//! The lines a capture is sent in.

use serde_json::{Map, Value, json};

use super::session::{Client, Gone};
use crate::capture::Trigger;
use crate::connection::Stream;
use crate::protocol::chunk;

/// A line being made.
pub(crate) struct Packet(Map<String, Value>);

impl Packet {
    /// ADC counts, as base64 or decimal.
    pub(crate) fn adc(counts: &[u16], b64: bool) -> Self {
        let mut fields = Map::new();
        if b64 {
            fields.insert("b64".to_owned(), chunk::encode_b64(counts).into());
        } else {
            fields.insert("data".to_owned(), json!(counts));
        }
        Self(fields)
    }

    /// LA edges up to a sample.
    pub(crate) fn la(edges: &[(u64, u16)], upto: u64) -> Self {
        let mut fields = Map::new();
        fields.insert("la".to_owned(), true.into());
        fields.insert("la_edges".to_owned(), json!(edges));
        fields.insert("la_upto".to_owned(), upto.into());
        Self(fields)
    }

    /// Says which trigger fired.
    pub(crate) fn trigger(&mut self, trigger: Option<Trigger>) {
        if let Some(Trigger { channel, edge, .. }) = trigger {
            let report = json!({"la": channel, "edge": edge.name(), "fired": true});
            self.0.insert("trigger".to_owned(), report);
        }
    }
}

/// The packets of one reply: the first has the head, all but the last announce more.
pub(crate) struct Packets<'a, S> {
    client: &'a mut Client<S>,
    head: Vec<(&'static str, Value)>,
    samples: u64,
    first: bool,
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
        }
    }

    /// Most samples a packet covers.
    pub(crate) fn samples(&self) -> u64 {
        self.samples
    }

    pub(crate) async fn send(&mut self, packet: Packet, last: bool) -> Result<(), Gone> {
        let status = if self.first { "ok" } else { "chunk" };
        self.first = false;
        let Packet(mut line) = packet;
        line.insert("status".to_owned(), status.into());
        line.insert("more".to_owned(), (!last).into());
        line.extend(
            self.head
                .drain(..)
                .map(|(name, value)| (name.to_owned(), value)),
        );
        self.client.send(&Value::Object(line)).await
    }
}
