//! Queries about protocols: addresses, bytes, errors.

use super::Parser;
use crate::error::QueryError;
use crate::limits::BYTES_MAX;
use crate::query::{Address, Bus, Bytes, Decoder, What};
use crate::token::Kind;

/// Highest 7-bit address.
const ADDRESS_MAX: u8 = 0x7f;

const ADDRESS: &str = "a 7-bit address such as `0x76`";

const BYTE: &str = "two hexadecimal digits, or `??` for any byte";

/// Lines by the words for them.
const LINES: [(&str, (Decoder, Option<&str>)); 8] = [
    ("i2c", (Decoder::I2c, None)),
    ("sda", (Decoder::I2c, Some("sda"))),
    ("spi", (Decoder::Spi, None)),
    ("miso", (Decoder::Spi, Some("miso"))),
    ("mosi", (Decoder::Spi, Some("mosi"))),
    ("uart", (Decoder::Uart, None)),
    ("rx", (Decoder::Uart, Some("rx"))),
    ("tx", (Decoder::Uart, Some("tx"))),
];

const FRAMING: What = What::Marks(&["rx-warnings", "tx-warnings"], "frame error");
const PARITY: What = What::Marks(&["rx-parity-err", "tx-parity-err"], "parity error");
const BREAK: What = What::Marks(&["rx-break", "tx-break"], "break");

/// A query about a protocol, if it begins as one.
pub(super) fn kind(parser: &mut Parser) -> Result<Option<Bus>, QueryError> {
    let decoders = [
        ("i2c", Decoder::I2c),
        ("spi", Decoder::Spi),
        ("uart", Decoder::Uart),
    ];
    if let Some(decoder) = parser.one_of(&decoders) {
        let what = match decoder {
            Decoder::I2c => i2c(parser)?,
            Decoder::Spi => spi(parser)?,
            Decoder::Uart => uart(parser)?,
        };
        let line = line(parser, Some(decoder))?.and_then(|(_, line)| line);
        return Ok(Some(Bus {
            decoder,
            what,
            line,
        }));
    }
    if let Some(pattern) = pattern(parser)? {
        let what = bytes(pattern, Address::default());
        let Some((decoder, line)) = line(parser, None)? else {
            return Err(parser.expected("another byte, or `on` and a line such as `uart`"));
        };
        return Ok(Some(Bus {
            decoder,
            what,
            line,
        }));
    }
    if let Some(what) = mistake(parser)? {
        let line = line(parser, Some(Decoder::Uart))?.and_then(|(_, line)| line);
        return Ok(Some(Bus {
            decoder: Decoder::Uart,
            what,
            line,
        }));
    }
    let is_address = |parser: &Parser| {
        let begins = ["address", "nack"];
        let token = parser.peek()?;
        let word = parser.word()?;
        Some(begins.iter().any(|word| token.is(word)) || word.starts_with("0x"))
    };
    match is_address(parser) {
        Some(true) => Ok(Some(Bus {
            decoder: Decoder::I2c,
            what: i2c(parser)?,
            line: None,
        })),
        Some(false) | None => Ok(None),
    }
}

fn i2c(parser: &mut Parser) -> Result<What, QueryError> {
    if let Some(pattern) = pattern(parser)? {
        return Ok(bytes(pattern, Address::default()));
    }
    if parser.take("repeated") {
        parser.need("start")?;
        return Ok(What::Marks(&["repeat-start"], "repeated start"));
    }
    let marks = [
        ("start", (&["start", "repeat-start"][..], "start")),
        ("stop", (&["stop"][..], "stop")),
        ("nack", (&["nack"][..], "NACK")),
        ("ack", (&["ack"][..], "ACK")),
    ];
    if let Some((classes, text)) = parser.one_of(&marks) {
        return Ok(What::Marks(classes, text));
    }
    let is_named = parser.take("address");
    let mut to = Address {
        address: address(parser)?,
        ..Address::default()
    };
    to.is_read = parser.one_of(&[("read", true), ("write", false)]);
    if !is_named && to == Address::default() {
        return Err(parser.expected(
            "an address such as `0x76`, `read`, `write`, `start`, `stop`, `nack`, `bytes` or `text`",
        ));
    }
    if let Some(pattern) = pattern(parser)? {
        return Ok(bytes(pattern, to));
    }
    to.is_answered = parser.one_of(&[("ack", true), ("nack", false)]);
    Ok(What::Address(to))
}

/// A number that begins with `0x`, if there is one.
fn address(parser: &mut Parser) -> Result<Option<u8>, QueryError> {
    let Some(word) = parser.word() else {
        return Ok(None);
    };
    if !word.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(None);
    }
    let digits = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X"));
    let is_plain = |digits: &&str| digits.chars().all(|c| c.is_ascii_hexdigit());
    let number = digits
        .filter(is_plain)
        .and_then(|digits| u8::from_str_radix(digits, 16).ok());
    let Some(number) = number.filter(|number| *number <= ADDRESS_MAX) else {
        return Err(parser.expected(ADDRESS));
    };
    parser.next += 1;
    Ok(Some(number))
}

fn spi(parser: &mut Parser) -> Result<What, QueryError> {
    match pattern(parser)? {
        Some(pattern) => Ok(bytes(pattern, Address::default())),
        None => Err(parser.expected("`bytes` or `text`")),
    }
}

fn uart(parser: &mut Parser) -> Result<What, QueryError> {
    if let Some(pattern) = pattern(parser)? {
        return Ok(bytes(pattern, Address::default()));
    }
    mistake(parser)?.ok_or_else(|| {
        parser.expected("`bytes`, `text`, `framing error`, `parity error` or `break`")
    })
}

/// What can be wrong on a UART.
fn mistake(parser: &mut Parser) -> Result<Option<What>, QueryError> {
    if parser.take("break") {
        return Ok(Some(BREAK));
    }
    let found = [("framing", true), ("frame", true), ("parity", false)];
    let Some(is_framing) = parser.one_of(&found) else {
        return Ok(None);
    };
    parser.need("error")?;
    Ok(Some(if is_framing { FRAMING } else { PARITY }))
}

fn bytes(pattern: Vec<Option<u8>>, to: Address) -> What {
    What::Bytes(Bytes { pattern, to })
}

/// `bytes 55 AA ?? 01` or `text "boot"`, if that is what comes.
fn pattern(parser: &mut Parser) -> Result<Option<Vec<Option<u8>>>, QueryError> {
    if parser.take("text") {
        return text(parser).map(Some);
    }
    if !parser.take("bytes") {
        return Ok(None);
    }
    let mut pattern = Vec::new();
    while let Some(word) = parser.word() {
        let is_next = ["on", "with"]
            .iter()
            .any(|next| word.eq_ignore_ascii_case(next));
        if is_next && !pattern.is_empty() {
            break;
        }
        let Some(bytes) = some_bytes(word) else {
            return Err(parser.expected(BYTE));
        };
        if BYTES_MAX < pattern.len() + bytes.len() {
            return Err(parser.expected(&format!("at most {BYTES_MAX} bytes")));
        }
        pattern.extend(bytes);
        parser.next += 1;
    }
    match pattern.is_empty() {
        true => Err(parser.expected(BYTE)),
        false => Ok(Some(pattern)),
    }
}

/// `55`, `0x55`, `??` or several of them without blanks.
fn some_bytes(word: &str) -> Option<Vec<Option<u8>>> {
    let digits = word.strip_prefix("0x").unwrap_or(word);
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    if pairs.is_empty() || !rest.is_empty() {
        return None;
    }
    let byte = |pair: &[u8; 2]| match pair {
        b"??" => Some(None),
        pair if pair.iter().all(u8::is_ascii_hexdigit) => {
            let digits = std::str::from_utf8(pair).ok()?;
            u8::from_str_radix(digits, 16).ok().map(Some)
        }
        _ => None,
    };
    pairs.iter().map(byte).collect()
}

fn text(parser: &mut Parser) -> Result<Vec<Option<u8>>, QueryError> {
    let bytes = match parser.peek().map(|token| &token.kind) {
        Some(Kind::Quoted(text) | Kind::Word(text)) => text.clone().into_bytes(),
        Some(Kind::Sign(_)) | None => Vec::new(),
    };
    if !(1..=BYTES_MAX).contains(&bytes.len()) {
        return Err(parser.expected(&format!(
            "a text of 1 to {BYTES_MAX} bytes between double quotes"
        )));
    }
    parser.next += 1;
    Ok(bytes.into_iter().map(Some).collect())
}

/// `on uart` or `on rx`: of the decoder, if that is known.
fn line(
    parser: &mut Parser,
    decoder: Option<Decoder>,
) -> Result<Option<(Decoder, Option<&'static str>)>, QueryError> {
    if !parser.take("on") {
        return Ok(None);
    }
    let fits = |of: Decoder| decoder.is_none_or(|decoder| decoder == of);
    let fitting = LINES.into_iter().filter(|(_, (of, _))| fits(*of));
    let fitting: Vec<_> = fitting.collect();
    parser.need_one_of(&fitting).map(Some)
}
