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

/// What a word has besides its value, of both lines.
pub(crate) const BITS: [u8; 8] = [
    START,
    START + 1,
    PARITY_OK,
    PARITY_OK + 1,
    STOP,
    STOP + 1,
    DATA_BITS,
    DATA_BITS + 1,
];

/// Highest baud rate that an option may set.
const BAUD_RATE_MAX: f64 = 1e9;

/// Longest packet that an option may set.
const PACKET_LEN_MAX: i64 = 65_536;

fn yes_no() -> Accepts {
    Accepts::one_of(&["yes", "no"])
}

/// The decoder's description.
pub(crate) fn decoder() -> Decoder {
    Decoder {
        id: "uart".to_owned(),
        name: "UART".to_owned(),
        channels: vec![
            Channel::optional("rx", "UART receive line"),
            Channel::optional("tx", "UART transmit line"),
        ],
        options: options(),
        classes: classes(),
        rows: rows(),
        byte_streams: vec![
            ByteStreamInfo::new("rx", &["rx-data"]),
            ByteStreamInfo::new("tx", &["tx-data"]),
            ByteStreamInfo::new("rxtx", &["rx-data", "tx-data"]),
        ],
    }
}

fn options() -> Vec<OptionInfo> {
    let (option, one_of) = (OptionInfo::new, Accepts::one_of);
    let length = Accepts::Integer(-1, PACKET_LEN_MAX);
    vec![
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
            one_of(&["5", "6", "7", "8", "9"]),
        ),
        option(
            "parity",
            "Parity",
            "none",
            one_of(&["none", "odd", "even", "zero", "one", "ignore"]),
        ),
        option(
            "stop_bits",
            "Stop bits",
            "1.0",
            one_of(&["0.0", "0.5", "1.0", "1.5"]),
        ),
        option(
            "bit_order",
            "Bit order",
            "lsb-first",
            one_of(&["lsb-first", "msb-first"]),
        ),
        option(
            "format",
            "Data format",
            "hex",
            one_of(&["ascii", "dec", "hex", "oct", "bin"]),
        ),
        option("invert_rx", "Invert RX", "no", yes_no()),
        option("invert_tx", "Invert TX", "no", yes_no()),
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
        option("rx_packet_len", "RX packet length", "-1", length.clone()),
        option("tx_packet_len", "TX packet length", "-1", length),
    ]
}

fn classes() -> Vec<Class> {
    vec![
        Class::new("rx-data", "RX data"),
        Class::new("tx-data", "TX data"),
        Class::new("rx-start", "RX start bits"),
        Class::new("tx-start", "TX start bits"),
        Class::new("rx-parity-ok", "RX parity OK bits"),
        Class::new("tx-parity-ok", "TX parity OK bits"),
        Class::new("rx-parity-err", "RX parity error bits"),
        Class::new("tx-parity-err", "TX parity error bits"),
        Class::new("rx-stop", "RX stop bits"),
        Class::new("tx-stop", "TX stop bits"),
        Class::new("rx-warnings", "RX warnings"),
        Class::new("tx-warnings", "TX warnings"),
        Class::new("rx-data-bits", "RX data bits"),
        Class::new("tx-data-bits", "TX data bits"),
        Class::new("rx-break", "RX break"),
        Class::new("tx-break", "TX break"),
        Class::new("rx-packet", "RX packet"),
        Class::new("tx-packet", "TX packet"),
    ]
}

fn rows() -> Vec<Row> {
    vec![
        Row::new("rx-data-bits", "RX bits", &["rx-data-bits"]),
        Row::new(
            "rx-data",
            "RX",
            &[
                "rx-data",
                "rx-start",
                "rx-parity-ok",
                "rx-parity-err",
                "rx-stop",
            ],
        ),
        Row::new("rx-warnings", "RX warnings", &["rx-warnings"]),
        Row::new("rx-break", "RX break", &["rx-break"]),
        Row::new("rx-packets", "RX packets", &["rx-packet"]),
        Row::new("tx-data-bits", "TX bits", &["tx-data-bits"]),
        Row::new(
            "tx-data",
            "TX",
            &[
                "tx-data",
                "tx-start",
                "tx-parity-ok",
                "tx-parity-err",
                "tx-stop",
            ],
        ),
        Row::new("tx-warnings", "TX warnings", &["tx-warnings"]),
        Row::new("tx-break", "TX break", &["tx-break"]),
        Row::new("tx-packets", "TX packets", &["tx-packet"]),
    ]
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

impl Config {
    /// The channels that it looks at.
    pub(crate) fn channels(&self) -> Vec<Option<usize>> {
        vec![self.rx.channel, self.tx.channel]
    }
}
