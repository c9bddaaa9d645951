//! The blocks of a trace, and what those say that are not changes.

use super::super::ImportError;
use super::super::rate::Rate;
use super::super::source::Known;
use super::bytes::{Bytes, damaged};
use super::unpack::{Packing, whole};
use super::{PART_BYTES_MAX, SIGNALS_MAX, Signal};

/// Kinds of blocks.
const HEADER: u8 = 0;
const CHANGES: u8 = 1;
const GEOMETRY: u8 = 3;
const NAMES_GZIP: u8 = 4;
const CHANGES_ALIAS: u8 = 5;
const NAMES_LZ4: u8 = 6;
const NAMES_LZ4_TWICE: u8 = 7;
const CHANGES_ALIAS_2: u8 = 8;
const PACKED: u8 = 254;
const SKIPPED: u8 = 255;

/// Length of the header, as it says itself: it tells a trace from other files.
const HEADER_LENGTH: u64 = 329;

/// What the header has to say how reals are written.
const E: f64 = std::f64::consts::E;

/// Powers of ten of a second that a tick can be.
const EXPONENTS: std::ops::RangeInclusive<i8> = -18..=3;

/// Bytes of the name of the program that wrote a trace.
const VERSION_BYTES: u64 = 128;

/// Bytes of the header of gzip, without anything optional.
const GZIP_HEADER: u64 = 10;

/// Most blocks of changes.
const SECTIONS_MAX: usize = 1 << 20;

/// Changes in a stretch of time.
pub(super) struct Block<'a> {
    pub(super) bytes: &'a [u8],
    /// Whether places of signals are written in the newer form.
    pub(super) is_alias_2: bool,
}

/// What was found.
pub(super) struct Blocks<'a> {
    pub(super) sections: Vec<Block<'a>>,
    /// The last time.
    pub(super) end: u64,
    pub(super) tick: Rate,
    pub(super) is_big_endian: bool,
    pub(super) logic_rate: Option<Known>,
    pub(super) analog_rate: Option<Known>,
    geometry: &'a [u8],
    names: (u8, &'a [u8]),
}

/// Whether a file begins with the header of a trace, or is a trace that is packed as a whole.
pub(in super::super) fn is_trace(bytes: &[u8]) -> bool {
    let Some((kind, rest)) = bytes.split_first() else {
        return false;
    };
    match *kind {
        HEADER => rest.starts_with(&HEADER_LENGTH.to_be_bytes()),
        // Two lengths, and then gzip.
        PACKED => rest.get(16..18) == Some(&[0x1f, 0x8b]),
        _ => false,
    }
}

struct Header {
    start: u64,
    end: u64,
    tick: Rate,
    is_big_endian: bool,
    version: String,
}

impl<'a> Blocks<'a> {
    pub(super) fn find(bytes: &'a [u8]) -> Result<Self, ImportError> {
        let mut rest = Bytes::new(bytes, "the blocks of the trace");
        let (mut header, mut geometry, mut names) = (None, None, None);
        let mut sections = Vec::new();
        while !rest.rest.is_empty() {
            let kind = rest.byte()?;
            let length = rest.u64()?;
            // A block that was not finished.
            if kind == SKIPPED && length == 0 {
                break;
            }
            let body = rest.take(length.checked_sub(8).ok_or_else(|| rest.wrong())?)?;
            match kind {
                HEADER => header = Some(Header::read(body)?),
                CHANGES | CHANGES_ALIAS | CHANGES_ALIAS_2 if sections.len() == SECTIONS_MAX => {
                    return Err(rest.wrong());
                }
                CHANGES | CHANGES_ALIAS | CHANGES_ALIAS_2 => sections.push(Block {
                    bytes: body,
                    is_alias_2: kind == CHANGES_ALIAS_2,
                }),
                GEOMETRY => geometry = Some(body),
                NAMES_GZIP | NAMES_LZ4 | NAMES_LZ4_TWICE => names = Some((kind, body)),
                PACKED => {
                    let what = "a trace that is packed as a whole";
                    return Err(ImportError::Unsupported { what });
                }
                _ => {}
            }
        }
        let header = header.ok_or_else(|| damaged("the header of the trace"))?;
        let end = match sections.last() {
            // It was not finished.
            Some(last) if (header.start, header.end) == (0, 0) => {
                Bytes::new(last.bytes.get(8..).unwrap_or_default(), "a section").u64()?
            }
            _ => header.end,
        };
        let (logic_rate, analog_rate) = own_rates(&header.version);
        Ok(Self {
            sections,
            end,
            tick: header.tick,
            is_big_endian: header.is_big_endian,
            logic_rate,
            analog_rate,
            geometry: geometry.ok_or_else(|| damaged("the widths of the signals"))?,
            names: names.ok_or_else(|| damaged("the names of the signals"))?,
        })
    }

    /// All signals, by their handles less one.
    pub(super) fn signals(&self) -> Result<Vec<Signal>, ImportError> {
        let mut rest = Bytes::new(self.geometry, "the widths of the signals");
        let (unpacked, count) = (rest.u64()?, rest.u64()?);
        if count > SIGNALS_MAX as u64 {
            let channels = usize::try_from(count).unwrap_or(usize::MAX);
            let max = SIGNALS_MAX;
            return Err(ImportError::TooManyChannels { channels, max });
        }
        let bytes = match unpacked == rest.rest.len() as u64 {
            true => rest.rest.to_vec(),
            false => {
                whole(Packing::Zlib, rest.rest, bounded(unpacked)?).ok_or_else(|| rest.wrong())?
            }
        };
        let mut widths = Bytes::new(&bytes, "the widths of the signals");
        let signal = |_| {
            let width = widths.varint()?;
            Ok(Signal {
                is_real: width == 0,
                width: match width {
                    0 => 8,
                    width if width == u64::from(u32::MAX) => 0,
                    width => usize::try_from(bounded(width)?).unwrap_or(0),
                },
                ..Signal::default()
            })
        };
        (0..count).map(signal).collect()
    }

    /// The names of the signals, unpacked.
    pub(super) fn names(&self) -> Result<Vec<u8>, ImportError> {
        let (kind, body) = self.names;
        let mut rest = Bytes::new(body, "the names of the signals");
        let length = bounded(rest.u64()?)?;
        let names = match kind {
            NAMES_GZIP => {
                let head = rest.take(GZIP_HEADER)?;
                if head[..4] != [0x1f, 0x8b, 8, 0] {
                    return Err(rest.wrong());
                }
                whole(Packing::Deflate, rest.rest, length)
            }
            NAMES_LZ4 => whole(Packing::Lz4, rest.rest, length),
            _ => {
                let first = bounded(rest.varint()?)?;
                whole(Packing::Lz4, rest.rest, first)
                    .and_then(|packed| whole(Packing::Lz4, &packed, length))
            }
        };
        names.ok_or_else(|| rest.wrong())
    }
}

impl Header {
    fn read(body: &[u8]) -> Result<Self, ImportError> {
        let mut rest = Bytes::new(body, "the header of the trace");
        let (start, end) = (rest.u64()?, rest.u64()?);
        let e = rest.u64()?;
        let is_big_endian = e == E.to_bits();
        if !is_big_endian && e.swap_bytes() != E.to_bits() {
            return Err(rest.wrong());
        }
        // Memory, scopes, variables, signals and sections.
        rest.take(5 * 8)?;
        let exponent = rest.byte()?.cast_signed();
        let version = rest.take(VERSION_BYTES)?;
        let version = version.split(|byte| *byte == 0).next().unwrap_or_default();
        let tick = EXPONENTS.contains(&exponent).then(|| tick(exponent));
        let tick = tick.flatten().ok_or(ImportError::Unsupported {
            what: "a unit of time below an attosecond or above 1000 seconds",
        })?;
        Ok(Self {
            start,
            end,
            tick,
            is_big_endian,
            version: String::from_utf8_lossy(version).into_owned(),
        })
    }
}

/// Ticks of so many powers of ten of a second.
fn tick(exponent: i8) -> Option<Rate> {
    let power = 10_u128.pow(exponent.unsigned_abs().into());
    match exponent {
        ..=0 => Rate::new(power, 1),
        _ => Rate::new(1, power),
    }
}

/// A length that is not too long for a part of a trace.
pub(super) fn bounded(length: u64) -> Result<u64, ImportError> {
    if length > PART_BYTES_MAX {
        return Err(ImportError::Unsupported {
            what: "names, widths or first values of more than 16 MiB",
        });
    }
    Ok(length)
}

/// What our own exports say of rates, behind the name of the program: `; logic: 1200 at 12000000 Hz; analog: 40 at 24000000/60 Hz`.
fn own_rates(version: &str) -> (Option<Known>, Option<Known>) {
    let said = |what: &str| {
        let mut parts = version.split("; ").skip(1);
        let (samples, rate) = parts
            .find_map(|part| part.strip_prefix(what))?
            .split_once(" at ")?;
        Some(Known {
            rate: Rate::said(rate.strip_suffix(" Hz")?)?,
            samples: Some(samples.parse().ok()?),
        })
    };
    (said("logic: "), said("analog: "))
}
