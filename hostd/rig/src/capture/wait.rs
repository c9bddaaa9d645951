//! What a capture of a pipeline waits for, as the bench waits for it.

use lab::captures::order::{self, Bus, Condition, Length, Wait};
use pipeline::plan;
use pipeline::rules::Polarity;
use pipeline::{Direction, Edge, Parity};

/// What the device or a decoder waits for.
pub(super) fn of(wait: &plan::Wait) -> Wait {
    let is_high = |level: Polarity| level == Polarity::High;
    match wait {
        plan::Wait::Edge {
            channel,
            edge: happens,
        } => Wait::Device(Condition::edge(small(*channel), edge(*happens))),
        plan::Wait::Pulse {
            channel,
            level,
            length,
        } => Wait::Device(Condition::Pulse {
            channel: small(*channel),
            is_high: is_high(*level),
            length: match length {
                plan::Length::ShorterThan(ns) => Length::ShorterThan(*ns),
                plan::Length::LongerThan(ns) => Length::LongerThan(*ns),
            },
        }),
        plan::Wait::Pattern { pattern } => {
            let mask = |of: &dyn Fn(Polarity) -> bool| {
                let bits = pattern.iter().filter(|(_, level)| of(**level));
                bits.fold(0_u16, |mask, (channel, _)| mask | 1 << (channel - 1))
            };
            Wait::Device(Condition::Pattern {
                channels: mask(&|_| true),
                levels: mask(&is_high),
            })
        }
        plan::Wait::Level {
            channel,
            level,
            for_ns,
        } => Wait::Device(Condition::Level {
            channel: small(*channel),
            is_high: is_high(*level),
            for_ns: *for_ns,
        }),
        plan::Wait::I2c {
            scl,
            sda,
            address,
            direction,
        } => Wait::Bus(Bus::I2c {
            lines: Some((small(*scl), small(*sda))),
            address: small(*address),
            is_read: direction.map(|direction| direction == Direction::Read),
        }),
        plan::Wait::Uart {
            rx,
            bytes,
            baudrate,
            parity,
        } => Wait::Bus(Bus::Uart {
            rx: small(*rx),
            bytes: bytes.clone(),
            options: uart(*baudrate, *parity),
        }),
    }
}

/// Options of the decoder.
fn uart(baudrate: u64, parity: Parity) -> Vec<(String, String)> {
    let parity = match parity {
        Parity::None => "none",
        Parity::Even => "even",
        Parity::Odd => "odd",
    };
    let all = [
        ("baudrate", baudrate.to_string()),
        ("parity", parity.to_owned()),
    ];
    all.map(|(name, value)| (name.to_owned(), value)).to_vec()
}

/// A number of a channel, which has been checked.
pub(super) fn small(channel: u64) -> u8 {
    u8::try_from(channel).unwrap_or(u8::MAX)
}

fn edge(edge: Edge) -> order::Edge {
    match edge {
        Edge::Rising => order::Edge::Rising,
        Edge::Falling => order::Edge::Falling,
        Edge::High => order::Edge::High,
        Edge::Low => order::Edge::Low,
    }
}
