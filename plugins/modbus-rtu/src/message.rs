//! What a frame asks or answers ("MODBUS Application Protocol Specification" V1.1b3, 6 and 7).
//!
//! On a line that carries both directions, a frame is a response if a request of the same function to the same server
//! waits for one and its length is that of a response, or if its length is that of no request.

use std::fmt::Write as _;

use crate::line::Direction;

/// Address of all servers, none of which answers.
const BROADCAST: u8 = 0;

/// Added to the function of a request that is refused.
const REFUSED: u8 = 0x80;

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Request,
    Response,
    Exception,
}

/// A request that waits for its response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pending {
    address: u8,
    function: u8,
    /// Bytes of data that the response should have behind its count; none if unknown.
    bytes: Option<usize>,
}

/// What is said of a frame.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) kind: Kind,
    pub(crate) text: String,
    pub(crate) warning: Option<String>,
    /// What waits now.
    pub(crate) pending: Option<Pending>,
}

/// A function's name, with its number if it has none.
pub(crate) fn function(code: u8) -> String {
    let name = name(code & !REFUSED)
        .map_or_else(|| format!("function {}", code & !REFUSED), str::to_owned);
    match code & REFUSED {
        0 => name,
        _ => format!("{name} refused"),
    }
}

/// Say what an undamaged frame is: its server, its function and the bytes between function and checksum.
pub(crate) fn told(
    direction: Direction,
    (address, code, data): (u8, u8, &[u8]),
    pending: Option<&Pending>,
) -> Told {
    let server = match address {
        BROADCAST => "all".to_owned(),
        address => address.to_string(),
    };
    let named = function(code);
    if code & REFUSED != 0 && direction != Direction::Requests {
        let cause = data.first().copied().unwrap_or_default();
        let asked = pending.is_some_and(|p| p.address == address && p.function == code & !REFUSED);
        return Told {
            kind: Kind::Exception,
            text: format!("{server}: {named}: {} ({cause})", exception(cause)),
            warning: (!asked).then(|| "it answers no request".to_owned()),
            pending: None,
        };
    }
    let matching = pending.filter(|p| p.address == address && p.function == code);
    let is_response = match direction {
        Direction::Requests => false,
        Direction::Responses => true,
        Direction::Either => {
            fits_response(code, data) && (matching.is_some() || !fits_request(code, data))
        }
    };
    if is_response {
        return Told {
            kind: Kind::Response,
            text: format!("{server}: {named}{}", response(code, data)),
            warning: mistake(code, data, matching),
            pending: None,
        };
    }
    let fits = fits_request(code, data);
    let expected = Pending {
        address,
        function: code,
        bytes: expected(code, data),
    };
    Told {
        kind: Kind::Request,
        text: format!("{server}: {named}{}", request(code, data)),
        warning: (!fits).then(|| "not the length of such a request".to_owned()),
        pending: (address != BROADCAST).then_some(expected),
    }
}

fn name(code: u8) -> Option<&'static str> {
    Some(match code {
        1 => "read coils",
        2 => "read discrete inputs",
        3 => "read holding registers",
        4 => "read input registers",
        5 => "write single coil",
        6 => "write single register",
        7 => "read exception status",
        8 => "diagnostics",
        11 => "get communication event counter",
        12 => "get communication event log",
        15 => "write multiple coils",
        16 => "write multiple registers",
        17 => "report server id",
        20 => "read file record",
        21 => "write file record",
        22 => "mask write register",
        23 => "read and write multiple registers",
        24 => "read FIFO queue",
        43 => "encapsulated interface transport",
        _ => return None,
    })
}

fn exception(code: u8) -> &'static str {
    match code {
        1 => "illegal function",
        2 => "illegal data address",
        3 => "illegal data value",
        4 => "server device failure",
        5 => "acknowledge",
        6 => "server device busy",
        8 => "memory parity error",
        10 => "gateway path unavailable",
        11 => "gateway target device failed to respond",
        _ => "unknown cause",
    }
}

/// The big-endian word at `at`.
fn word(data: &[u8], at: usize) -> Option<u16> {
    let bytes = data.get(at..at + 2)?;
    Some(u16::from_be_bytes([bytes[0], bytes[1]]))
}

/// Whether the byte at `at` counts all that follow.
fn counts(data: &[u8], at: usize) -> bool {
    let count = data.get(at).map(|count| usize::from(*count));
    count.is_some_and(|count| data.len() == at + 1 + count)
}

fn fits_request(code: u8, data: &[u8]) -> bool {
    match code {
        1..=6 => data.len() == 4,
        7 | 11 | 12 | 17 => data.is_empty(),
        8 => data.len() >= 4,
        15 | 16 => counts(data, 4),
        20 | 21 => counts(data, 0),
        22 => data.len() == 6,
        23 => counts(data, 8),
        24 => data.len() == 2,
        _ => true,
    }
}

fn fits_response(code: u8, data: &[u8]) -> bool {
    match code {
        1 | 2 | 12 | 17 | 20 | 21 => counts(data, 0),
        // Registers have two bytes each.
        3 | 4 | 23 => counts(data, 0) && data[0].is_multiple_of(2),
        5 | 6 | 11 | 15 | 16 => data.len() == 4,
        7 => data.len() == 1,
        8 => data.len() >= 4,
        22 => data.len() == 6,
        24 => word(data, 0).is_some_and(|count| data.len() == 2 + usize::from(count)),
        _ => true,
    }
}

/// Bytes that the response to a request should count.
fn expected(code: u8, data: &[u8]) -> Option<usize> {
    let quantity = usize::from(word(data, 2)?);
    match code {
        1 | 2 => Some(quantity.div_ceil(8)),
        3 | 4 | 23 => Some(quantity * 2),
        _ => None,
    }
}

/// What is wrong with a response.
fn mistake(code: u8, data: &[u8], asked: Option<&Pending>) -> Option<String> {
    if !fits_response(code, data) {
        return Some("not the length of such a response".to_owned());
    }
    let Some(asked) = asked else {
        return Some("it answers no request".to_owned());
    };
    let (wanted, counted) = (asked.bytes?, usize::from(*data.first()?));
    (wanted != counted).then(|| format!("it has {counted} bytes of data; asked for were {wanted}"))
}

/// `first-last`, of so many.
fn range(data: &[u8], at: usize) -> Option<String> {
    let (first, count) = (word(data, at)?, word(data, at + 2)?);
    Some(match count {
        0 => format!(" none from {first}"),
        1 => format!(" {first}"),
        _ => format!(" {first}-{}", u32::from(first) + u32::from(count) - 1),
    })
}

fn request(code: u8, data: &[u8]) -> String {
    let told = match code {
        1..=4 => range(data, 0),
        15 | 16 => range(data, 0).map(|range| format!("{range} ={}", values(code, &data[4..]))),
        23 => range(data, 0)
            .zip(range(data, 4))
            .map(|(read, written)| format!("{read}, write{written} ={}", values(code, &data[8..]))),
        _ => single(code, data),
    };
    told.unwrap_or_default()
}

fn response(code: u8, data: &[u8]) -> String {
    let told = match code {
        1..=4 | 23 => Some(format!(" ={}", values(code, data))),
        15 | 16 => range(data, 0),
        _ => single(code, data),
    };
    told.unwrap_or_default()
}

/// What requests and responses have alike.
fn single(code: u8, data: &[u8]) -> Option<String> {
    let first = word(data, 0)?;
    Some(match code {
        5 => match word(data, 2)? {
            0xff00 => format!(" {first} = on"),
            0 => format!(" {first} = off"),
            other => format!(" {first} = {other:04X}"),
        },
        6 => format!(" {first} = {:04X}", word(data, 2)?),
        8 => format!(" {first} {:04X}", word(data, 2)?),
        22 => {
            let (and, or) = (word(data, 2)?, word(data, 4)?);
            format!(" {first}: and {and:04X}, or {or:04X}")
        }
        _ => return None,
    })
}

/// Values behind their count: words of registers, bytes of coils.
fn values(code: u8, data: &[u8]) -> String {
    let values = data.get(1..).unwrap_or_default();
    let mut text = String::new();
    let is_bits = matches!(code, 1 | 2 | 15);
    for value in values.chunks(if is_bits { 1 } else { 2 }) {
        // Memory takes all.
        let _ = match *value {
            [high, low] => write!(text, " {high:02X}{low:02X}"),
            [byte] => write!(text, " {byte:02X}"),
            _ => Ok(()),
        };
    }
    text
}
