//! The crate uiharu as a contestant.

use std::sync::Arc;
use uiharu::protocols::i2c::{I2c, I2cConfig, I2cEvent};
use uiharu::{Graph, Item, LogicBlock, SignalItem, SourceSpec, Tick, TimeBase};

/// Samples of a block that it is given: the fastest size.
const BLOCK: usize = 64 * 1024;

/// Decodes I²C on channels 0 and 1; returns how many addresses and data bytes there are.
pub(super) fn decode(samples: &[u8], rate_hz: u64) -> usize {
    let mut graph = Graph::new();
    let source = SourceSpec::new("logic", 2, TimeBase::new(rate_hz));
    let source = graph.source(source).expect("the first one");
    let decoder = graph.add(I2c::new(I2cConfig::default()).expect("it is valid"));
    let connected = graph.connect(source.samples, I2c::input(decoder));
    connected.expect("samples fit");
    let output = graph.expose("i2c", I2c::events(decoder));
    let output = output.expect("there is the output");
    let mut pipeline = graph.build().expect("nothing is missing");
    let events = pipeline.exposed(output).expect("the first reader");
    let mut bytes = 0;
    let mut at = 0;
    let blocks = samples.chunks(BLOCK).map(|part| {
        let block = LogicBlock::from_interleaved(Tick(at), 2, part).expect("two channels");
        at += part.len() as u64;
        SignalItem::Data(Arc::new(block))
    });
    let end = SignalItem::End(Tick(samples.len() as u64));
    let mut ended = false;
    for item in blocks.chain([end]) {
        pipeline.push(source.id, item).expect("there is room");
        loop {
            pipeline.run();
            let mut seen = false;
            while !ended && events.pending() > 0 {
                seen = true;
                events.with_next(|item| match item {
                    Item::Event(event) => {
                        let is_byte = matches!(
                            event.payload,
                            I2cEvent::Address { .. } | I2cEvent::Data { .. }
                        );
                        bytes += usize::from(is_byte);
                    }
                    Item::End(_) => ended = true,
                    Item::Gap(_) | Item::Progress(_) => {}
                });
                events.advance();
            }
            if !seen || ended {
                break;
            }
        }
    }
    bytes
}
