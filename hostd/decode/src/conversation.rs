//! Both lines of a UART as one conversation: who said what, in order.
//!
//! The words of a line are joined to runs. A run ends
//!
//! - when the line is idle for longer than `gap_bits`, counted from the end of the stop bit;
//! - when the other line has said something in between: a word that began after the last word of the run, and ended before
//!   the next one begins. Words of both lines at the same time end nothing;
//! - behind the word `delimiter`, and when it has `length` words.
//!
//! Runs, and what is wrong with words, come in the order in which they begin. A break is known only at its end; it comes
//! then, whatever else was said meanwhile.

mod stage;

pub(crate) use stage::Conversation;

use crate::annotation::ClassSet;
use crate::decoder::{Accepts, Class, Decoder, OptionInfo, Row};
use crate::uart;

/// Name of the decoder.
pub(crate) const ID: &str = "uart-conversation";

/// Classes come in pairs; these are the ones for RX, each followed by the one for TX.
pub(crate) const DATA: u8 = 0;
pub(crate) const PARITY_ERR: u8 = 2;
pub(crate) const WARNING: u8 = 4;
pub(crate) const BREAK: u8 = 6;

/// Longest idle time that an option may set, in bits: over a minute at 9600 baud.
const GAP_BITS_MAX: f64 = 1e6;

/// Most words of a run.
const LENGTH_MAX: i64 = 4096;

/// Options of a UART that say how its words are written or joined, which is said in other ways here.
const NOT_OPTIONS: [&str; 5] = [
    "format",
    "rx_packet_delim",
    "tx_packet_delim",
    "rx_packet_len",
    "tx_packet_len",
];

/// What of the UART's annotations are needed.
pub(crate) const NEEDED: ClassSet = ClassSet::EMPTY
    .with(uart::DATA)
    .with(uart::DATA + 1)
    .with(uart::PARITY_ERR)
    .with(uart::PARITY_ERR + 1)
    .with(uart::WARNING)
    .with(uart::WARNING + 1)
    .with(uart::BREAK)
    .with(uart::BREAK + 1);

/// How words of a run are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Show {
    /// `48 69 0D`
    Hex,
    /// `Hi[0D]`
    Ascii,
    /// `48 69 0D |Hi.|`
    Both,
}

/// What the decoder needs to know.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Config {
    pub(crate) uart: uart::Config,
    /// Longest idle time in a run, in bits.
    pub(crate) gap_bits: f64,
    pub(crate) length: usize,
    pub(crate) delimiter: Option<u64>,
    pub(crate) show: Show,
}

/// The decoder's description.
pub(crate) fn decoder() -> Decoder {
    let uart = uart::decoder();
    let mut options = uart.options;
    options.retain(|option| !NOT_OPTIONS.contains(&option.id.as_str()));
    let option = OptionInfo::new;
    options.extend([
        option(
            "gap_bits",
            "Longest idle time in a run (bits)",
            "20",
            Accepts::Number(0.0, GAP_BITS_MAX),
        ),
        option(
            "length",
            "Most words of a run",
            "64",
            Accepts::Integer(1, LENGTH_MAX),
        ),
        option(
            "delimiter",
            "Word that ends a run (decimal)",
            "-1",
            Accepts::Integer(-1, 511),
        ),
        option(
            "show",
            "How words are written",
            "both",
            Accepts::one_of(&["both", "hex", "ascii"]),
        ),
    ]);
    Decoder {
        id: ID.to_owned(),
        name: "UART, both lines as a conversation".to_owned(),
        channels: uart.channels,
        options,
        classes: vec![
            Class::new("rx-data", "RX said"),
            Class::new("tx-data", "TX said"),
            Class::new("rx-parity-err", "RX parity error"),
            Class::new("tx-parity-err", "TX parity error"),
            Class::new("rx-warnings", "RX frame error"),
            Class::new("tx-warnings", "TX frame error"),
            Class::new("rx-break", "RX break"),
            Class::new("tx-break", "TX break"),
        ],
        rows: vec![
            Row::new("data", "Conversation", &["rx-data", "tx-data"]),
            Row::new(
                "errors",
                "Errors",
                &[
                    "rx-parity-err",
                    "tx-parity-err",
                    "rx-warnings",
                    "tx-warnings",
                    "rx-break",
                    "tx-break",
                ],
            ),
        ],
        byte_streams: Vec::new(),
    }
}

/// What a class says that has no words.
pub(crate) fn mark(class: u8) -> &'static str {
    match (class & !1, class & 1) {
        (PARITY_ERR, 0) => "RX parity error",
        (PARITY_ERR, _) => "TX parity error",
        (BREAK, 0) => "RX break",
        (BREAK, _) => "TX break",
        (_, 0) => "RX frame error",
        (_, _) => "TX frame error",
    }
}

/// Name of the line that a class is of.
pub(crate) fn line(class: u8) -> &'static str {
    match class & 1 {
        0 => "RX",
        _ => "TX",
    }
}
