//! Intel HEX (Intel, "Hexadecimal Object File Format Specification", 1988): one record per line.

use super::segments::Segments;
use super::{Format, ImageError};

const DATA: u8 = 0x00;
const END: u8 = 0x01;
const SEGMENT_BASE: u8 = 0x02;
const SEGMENT_START: u8 = 0x03;
const LINEAR_BASE: u8 = 0x04;
const LINEAR_START: u8 = 0x05;

/// Ctrl-Z, as CP/M and DOS have it.
const END_OF_TEXT: u8 = 0x1a;

/// Count, address and kind before a record's data, checksum after it.
const HEAD_BYTES: usize = 4;
const RECORD_BYTES_MAX: usize = HEAD_BYTES + 255 + 1;

/// Whether the first line could be a record.
pub(super) fn looks_like(bytes: &[u8]) -> bool {
    let line = bytes.trim_ascii_start();
    let head = line.get(1..1 + 2 * HEAD_BYTES);
    line.starts_with(b":") && head.is_some_and(|head| head.iter().all(u8::is_ascii_hexdigit))
}

/// Addresses in a segment wrap within its 64 KiB, linear ones do not.
#[derive(Clone, Copy)]
enum Base {
    Linear(u32),
    Segment(u32),
}

/// Reads all records, also those of files that were appended to each other: each begins anew after the end record of the
/// one before.
pub(super) fn read(file: &[u8], segments: &mut Segments) -> Result<(), ImageError> {
    let mut base = Base::Linear(0);
    let mut is_ended = false;
    for (number, line) in lines(file).enumerate() {
        let line = line.trim_ascii();
        // A mark that old systems end text with.
        if line.is_empty() || is_ended && line == [END_OF_TEXT] {
            continue;
        }
        let broken = |what| ImageError::HexLine {
            line: number + 1,
            what,
        };
        let record = record(line).map_err(broken)?;
        let (kind, offset, data) = (
            record[3],
            u16::from_be_bytes([record[1], record[2]]),
            &record[4..],
        );
        is_ended = kind == END;
        match (kind, data) {
            (DATA, data) => add(base, offset, data, segments)?,
            (END, _) => base = Base::Linear(0),
            (SEGMENT_BASE, [high, low]) => {
                base = Base::Segment(u32::from(u16::from_be_bytes([*high, *low])) << 4);
            }
            (LINEAR_BASE, [high, low]) => {
                base = Base::Linear(u32::from(u16::from_be_bytes([*high, *low])) << 16);
            }
            // The vector table says where to start.
            (SEGMENT_START | LINEAR_START, [_, _, _, _]) => {}
            (SEGMENT_BASE..=LINEAR_START, _) => {
                return Err(broken("its length does not fit its kind"));
            }
            _ => return Err(broken("unknown kind of record")),
        }
    }
    if is_ended {
        return Ok(());
    }
    Err(ImageError::CutOff {
        format: Format::Hex,
        what: "the record that ends it",
    })
}

/// The lines of a file, which end in CR, LF or both.
fn lines(file: &[u8]) -> impl Iterator<Item = &[u8]> {
    file.split(|byte| *byte == b'\n').flat_map(|line| {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        line.split(|byte| *byte == b'\r')
    })
}

fn add(base: Base, offset: u16, data: &[u8], segments: &mut Segments) -> Result<(), ImageError> {
    match base {
        Base::Linear(base) => segments.add(base | u32::from(offset), data),
        Base::Segment(base) => {
            let room = 0x1_0000 - usize::from(offset);
            let (before, wrapped) = data.split_at(data.len().min(room));
            segments.add(base + u32::from(offset), before)?;
            segments.add(base, wrapped)
        }
    }
}

/// The bytes of a record without its checksum.
fn record(line: &[u8]) -> Result<Vec<u8>, &'static str> {
    let digits = line
        .strip_prefix(b":")
        .ok_or("it does not begin with a colon")?;
    if digits.len() > 2 * RECORD_BYTES_MAX {
        return Err("it is too long");
    }
    let (pairs, rest) = digits.as_chunks::<2>();
    if !rest.is_empty() {
        return Err("it has half a byte");
    }
    let mut bytes = Vec::with_capacity(pairs.len());
    for [high, low] in pairs {
        let value = digit(*high)
            .zip(digit(*low))
            .map(|(high, low)| high << 4 | low);
        bytes.push(value.ok_or("it has something else than hexadecimal digits")?);
    }
    let sum = bytes.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    let count = bytes.first().copied().map_or(0, usize::from);
    if bytes.len() != HEAD_BYTES + count + 1 {
        return Err("its length is not what it states");
    }
    if sum != 0 {
        return Err("its checksum is wrong");
    }
    bytes.pop();
    Ok(bytes)
}

fn digit(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}
