//! UART: asynchronous frames on one or two lines.
//!
//! Options and annotation classes are those of libsigrokdecode's `uart`, as are the sample points:
//! bit `n` of a frame (0 is the start bit) is sampled at `ceil(start + (w - 1) · p + n · w)`, where
//! `w` is the number of samples per bit and `p` is one half unless `sample_point` says otherwise.
//! One stop bit is checked whatever `stop_bits` says; that option only counts towards the length of
//! a break. The reported start of a break is the start of the frame that it ends.

mod line;
mod merge;
mod notes;
mod parallel;
mod protocol;
mod timing;

pub(crate) use protocol::Uart;

use crate::decoder::{Accepts, ByteStreamInfo, Channel, Class, Decoder, OptionInfo, Row};

/// Classes come in pairs; these are the ones for RX, each followed by the one for TX.
pub(crate) const DATA: u8 = 0;
pub(crate) const START: u8 = 2;
pub(crate) const PARITY_OK: u8 = 4;
pub(crate) const PARITY_ERR: u8 = 6;
pub(crate) const STOP: u8 = 8;
pub(crate) const WARNING: u8 = 10;
pub(crate) const DATA_BITS: u8 = 12;
pub(crate) const BREAK: u8 = 14;
pub(crate) const PACKET: u8 = 16;

/// Highest baud rate that an option may set.
const BAUD_RATE_MAX: f64 = 1e9;

/// Longest packet that an option may set.
const PACKET_LEN_MAX: i64 = 65_536;

const YES_NO: Accepts = Accepts::OneOf(&["yes", "no"]);

/// The decoder's description.
pub(crate) static DECODER: Decoder = Decoder {
    id: "uart",
    name: "UART",
    channels: &[
        Channel {
            id: "rx",
            name: "UART receive line",
            required: false,
        },
        Channel {
            id: "tx",
            name: "UART transmit line",
            required: false,
        },
    ],
    options: &OPTIONS,
    classes: &CLASSES,
    rows: &ROWS,
    byte_streams: &[
        ByteStreamInfo {
            id: "rx",
            classes: &["rx-data"],
        },
        ByteStreamInfo {
            id: "tx",
            classes: &["tx-data"],
        },
        ByteStreamInfo {
            id: "rxtx",
            classes: &["rx-data", "tx-data"],
        },
    ],
};

static OPTIONS: [OptionInfo; 13] = [
    option(
        "baudrate",
        "Baud rate",
        "115200",
        Accepts::Number(1e-3, BAUD_RATE_MAX),
    ),
    option(
        "data_bits",
        "Data bits",
        "8",
        Accepts::OneOf(&["5", "6", "7", "8", "9"]),
    ),
    option(
        "parity",
        "Parity",
        "none",
        Accepts::OneOf(&["none", "odd", "even", "zero", "one", "ignore"]),
    ),
    option(
        "stop_bits",
        "Stop bits",
        "1.0",
        Accepts::OneOf(&["0.0", "0.5", "1.0", "1.5"]),
    ),
    option(
        "bit_order",
        "Bit order",
        "lsb-first",
        Accepts::OneOf(&["lsb-first", "msb-first"]),
    ),
    option(
        "format",
        "Data format",
        "hex",
        Accepts::OneOf(&["ascii", "dec", "hex", "oct", "bin"]),
    ),
    option("invert_rx", "Invert RX", "no", YES_NO),
    option("invert_tx", "Invert TX", "no", YES_NO),
    option(
        "sample_point",
        "Sample point (%)",
        "50",
        Accepts::Number(1.0, 99.0),
    ),
    option(
        "rx_packet_delim",
        "RX packet delimiter (decimal)",
        "-1",
        Accepts::Integer(-1, 511),
    ),
    option(
        "tx_packet_delim",
        "TX packet delimiter (decimal)",
        "-1",
        Accepts::Integer(-1, 511),
    ),
    option(
        "rx_packet_len",
        "RX packet length",
        "-1",
        Accepts::Integer(-1, PACKET_LEN_MAX),
    ),
    option(
        "tx_packet_len",
        "TX packet length",
        "-1",
        Accepts::Integer(-1, PACKET_LEN_MAX),
    ),
];

static CLASSES: [Class; 18] = [
    Class {
        id: "rx-data",
        text: "RX data",
    },
    Class {
        id: "tx-data",
        text: "TX data",
    },
    Class {
        id: "rx-start",
        text: "RX start bits",
    },
    Class {
        id: "tx-start",
        text: "TX start bits",
    },
    Class {
        id: "rx-parity-ok",
        text: "RX parity OK bits",
    },
    Class {
        id: "tx-parity-ok",
        text: "TX parity OK bits",
    },
    Class {
        id: "rx-parity-err",
        text: "RX parity error bits",
    },
    Class {
        id: "tx-parity-err",
        text: "TX parity error bits",
    },
    Class {
        id: "rx-stop",
        text: "RX stop bits",
    },
    Class {
        id: "tx-stop",
        text: "TX stop bits",
    },
    Class {
        id: "rx-warnings",
        text: "RX warnings",
    },
    Class {
        id: "tx-warnings",
        text: "TX warnings",
    },
    Class {
        id: "rx-data-bits",
        text: "RX data bits",
    },
    Class {
        id: "tx-data-bits",
        text: "TX data bits",
    },
    Class {
        id: "rx-break",
        text: "RX break",
    },
    Class {
        id: "tx-break",
        text: "TX break",
    },
    Class {
        id: "rx-packet",
        text: "RX packet",
    },
    Class {
        id: "tx-packet",
        text: "TX packet",
    },
];

static ROWS: [Row; 10] = [
    Row {
        id: "rx-data-bits",
        text: "RX bits",
        classes: &["rx-data-bits"],
    },
    Row {
        id: "rx-data",
        text: "RX",
        classes: &[
            "rx-data",
            "rx-start",
            "rx-parity-ok",
            "rx-parity-err",
            "rx-stop",
        ],
    },
    Row {
        id: "rx-warnings",
        text: "RX warnings",
        classes: &["rx-warnings"],
    },
    Row {
        id: "rx-break",
        text: "RX break",
        classes: &["rx-break"],
    },
    Row {
        id: "rx-packets",
        text: "RX packets",
        classes: &["rx-packet"],
    },
    Row {
        id: "tx-data-bits",
        text: "TX bits",
        classes: &["tx-data-bits"],
    },
    Row {
        id: "tx-data",
        text: "TX",
        classes: &[
            "tx-data",
            "tx-start",
            "tx-parity-ok",
            "tx-parity-err",
            "tx-stop",
        ],
    },
    Row {
        id: "tx-warnings",
        text: "TX warnings",
        classes: &["tx-warnings"],
    },
    Row {
        id: "tx-break",
        text: "TX break",
        classes: &["tx-break"],
    },
    Row {
        id: "tx-packets",
        text: "TX packets",
        classes: &["tx-packet"],
    },
];

const fn option(
    id: &'static str,
    text: &'static str,
    default: &'static str,
    accepts: Accepts,
) -> OptionInfo {
    OptionInfo {
        id,
        text,
        default,
        accepts,
    }
}

/// What the parity bit should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parity {
    None,
    Odd,
    Even,
    Zero,
    One,
    /// There is a parity bit, of any value.
    Ignore,
}

/// How words are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WordFormat {
    Ascii,
    Dec,
    Hex,
    Oct,
    Bin,
}

/// One line of the pair.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LineConfig {
    /// Channel number; a line without one is not decoded.
    pub(crate) channel: Option<usize>,
    /// The idle level is low.
    pub(crate) invert: bool,
    /// The word that ends a packet.
    pub(crate) packet_delim: Option<u64>,
    /// Number of words after which a packet ends.
    pub(crate) packet_len: Option<usize>,
}

/// What the decoder needs to know.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Config {
    pub(crate) baud_rate: f64,
    /// 5..=9
    pub(crate) data_bits: u32,
    pub(crate) parity: Parity,
    pub(crate) stop_bits: f64,
    pub(crate) msb_first: bool,
    pub(crate) format: WordFormat,
    /// Percent of a bit.
    pub(crate) sample_point: f64,
    pub(crate) rx: LineConfig,
    pub(crate) tx: LineConfig,
}
