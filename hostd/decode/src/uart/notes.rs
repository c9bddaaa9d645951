//! Turns line events into annotations.

use super::line::{Event, Kind};
use super::merge::Queue;
use super::timing::Timing;
use super::{
    BREAK, Config, DATA, DATA_BITS, LineConfig, PACKET, PARITY_ERR, PARITY_OK, Parity, START, STOP,
    WARNING,
};
use crate::annotation::{Annotation, ClassSet, Value};

/// Maximum number of words in a packet annotation; a longer packet becomes several annotations.
const PACKET_WORDS_MAX: usize = 65_536;

/// Turns the events of one line into annotations.
pub(super) struct Notes {
    shown: ClassSet,
    /// 0 for RX, 1 for TX: the number added to a class.
    line: u8,
    parity: Parity,
    msb_first: bool,
    packet_delim: Option<u64>,
    packet_len: Option<usize>,
    packet: Vec<u64>,
    packet_start: u64,
}

impl Notes {
    pub(super) fn new(shown: ClassSet, line: u8, config: &Config, wire: &LineConfig) -> Self {
        let packets = shown.has(PACKET + line);
        Self {
            shown,
            line,
            parity: config.parity,
            msb_first: config.msb_first,
            packet_delim: wire.packet_delim.filter(|_| packets),
            packet_len: wire.packet_len.filter(|_| packets),
            packet: Vec::new(),
            packet_start: 0,
        }
    }

    pub(super) fn take(&mut self, events: &[Event], timing: &Timing, out: &mut Queue) {
        for event in events {
            match event.kind {
                Kind::Frame => self.frame(event, timing, out),
                Kind::BadStart => {
                    let point = timing.point(event.start, 0);
                    self.put(out, point, WARNING, timing.extent(point), Value::Mark);
                }
                Kind::Break => {
                    if self.shown.has(BREAK + self.line) {
                        let class = BREAK + self.line;
                        let annotation = Annotation::mark(event.start, event.end, class);
                        out.put_break(event.end, self.line, annotation);
                    }
                }
            }
        }
    }

    fn put(&self, out: &mut Queue, due: u64, class: u8, (start, end): (u64, u64), value: Value) {
        let class = class + self.line;
        if self.shown.has(class) {
            out.put(
                due,
                self.line,
                Annotation {
                    start,
                    end,
                    class,
                    value,
                },
            );
        }
    }

    fn frame(&mut self, event: &Event, timing: &Timing, out: &mut Queue) {
        let sampled = |index: u32| index < u32::from(event.sampled);
        let bit = |index: u32| event.bits >> (index - 1) & 1 != 0;
        let put = |out: &mut Queue, index: u32, class: u8, value: Value| {
            let point = timing.point(event.start, index);
            self.put(out, point, class, timing.extent(point), value);
        };
        put(out, 0, START, Value::Mark);
        let last = timing.data_bits();
        if self.shown.has(DATA_BITS + self.line) {
            for index in (1..=last).take_while(|&index| sampled(index)) {
                put(out, index, DATA_BITS, Value::Bit(bit(index)));
            }
        }
        if !sampled(last) {
            return;
        }
        self.data(event, timing, out);
        let put = |out: &mut Queue, index: u32, class: u8| {
            let point = timing.point(event.start, index);
            self.put(out, point, class, timing.extent(point), Value::Mark);
        };
        if let Some(index) = timing.parity().filter(|&index| sampled(index)) {
            let data = event.bits & ((1 << last) - 1);
            let good = self.is_parity_good(data, bit(index));
            put(out, index, if good { PARITY_OK } else { PARITY_ERR });
        }
        if sampled(timing.stop()) {
            if !bit(timing.stop()) {
                put(out, timing.stop(), WARNING);
            }
            self.stop(timing.point(event.start, timing.stop()), timing, out);
        }
    }

    /// libsigrokdecode 0.5.3 puts stop bits under parity-ok; requesting either class shows them.
    fn stop(&self, point: u64, timing: &Timing, out: &mut Queue) {
        let class = STOP + self.line;
        if self.shown.has(class) || self.shown.has(PARITY_OK + self.line) {
            let (start, end) = timing.extent(point);
            out.put(point, self.line, Annotation::mark(start, end, class));
        }
    }

    fn is_parity_good(&self, data: u16, bit: bool) -> bool {
        let odd = data.count_ones() % 2 == 1;
        match self.parity {
            Parity::None | Parity::Ignore => true,
            Parity::Odd => odd != bit,
            Parity::Even => odd == bit,
            Parity::Zero => !bit,
            Parity::One => bit,
        }
    }

    fn data(&mut self, event: &Event, timing: &Timing, out: &mut Queue) {
        let bits = timing.data_bits();
        let data = event.bits & ((1 << bits) - 1);
        let word = u64::from(if self.msb_first {
            data.reverse_bits() >> (16 - bits)
        } else {
            data
        });
        let due = timing.point(event.start, bits);
        let start = timing.extent(timing.point(event.start, 1)).0;
        let end = timing.extent(due).1;
        self.put(out, due, DATA, (start, end), Value::Number(word));
        if self.packet_delim.is_none() && self.packet_len.is_none() {
            return;
        }
        if self.packet.is_empty() {
            self.packet_start = start;
        }
        self.packet.push(word);
        let is_full = self.packet.len() >= self.packet_len.unwrap_or(PACKET_WORDS_MAX);
        if is_full || self.packet_delim == Some(word) {
            let words = Value::Words(std::mem::take(&mut self.packet).into_boxed_slice());
            self.put(out, due, PACKET, (self.packet_start, end), words);
        }
    }
}
