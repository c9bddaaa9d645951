//! WAV files (RIFF, Multimedia Programming Interface 1.0): an analog channel for each track.

use super::choice::Choice;
use super::rate::Rate;
use super::scale::Scale;
use super::source::{AnalogName, Known, Shape, Sink, Source, Wanted};
use super::{ImportError, Limits};

const PCM: u16 = 1;
const FLOAT: u16 = 3;
const EXTENSIBLE: u16 = 0xFFFE;

/// How a sample is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Unsigned, 8 bits.
    U8,
    /// Signed, of so many bytes.
    Signed(usize),
    F32,
    F64,
}

/// A file whose header was read.
pub(super) struct Wave<'a> {
    shape: Shape,
    data: &'a [u8],
    form: Form,
    /// Bytes from a sample to the next of the same track.
    block: usize,
    /// Where in the block the chosen track is.
    offset: usize,
}

/// What a file may lack.
const FORMAT: &str = "the format of a WAV file";

fn damaged(what: &'static str) -> ImportError {
    ImportError::Damaged { what }
}

/// The format and the samples of a file.
fn chunks(bytes: &[u8]) -> Result<(&[u8], &[u8]), ImportError> {
    let mut rest = bytes.get(12..).unwrap_or_default();
    let mut format = None;
    let data = loop {
        let (head, body) = rest
            .split_at_checked(8)
            .ok_or(damaged("the samples of a WAV file"))?;
        let size = [head[4], head[5], head[6], head[7]];
        // Programs that write to a pipe do not know the size.
        let size = usize::try_from(u32::from_le_bytes(size))
            .unwrap_or(usize::MAX)
            .min(body.len());
        match &head[..4] {
            b"fmt " => format = Some(&body[..size]),
            b"data" => break &body[..size],
            _ => {}
        }
        rest = body.get(size + size % 2..).unwrap_or_default();
    };
    Ok((format.ok_or(damaged(FORMAT))?, data))
}

impl<'a> Wave<'a> {
    pub(super) fn open(bytes: &'a [u8], limits: &Limits) -> Result<Self, ImportError> {
        let (format, data) = chunks(bytes)?;
        let word = |at: usize| {
            let bytes = format.get(at..at + 2).ok_or(damaged(FORMAT));
            bytes.map(|bytes| u16::from_le_bytes([bytes[0], bytes[1]]))
        };
        let tag = match word(0)? {
            EXTENSIBLE => word(24)?,
            tag => tag,
        };
        let (tracks, bits) = (usize::from(word(2)?), word(14)?);
        let hz = u32::from(word(4)?) | u32::from(word(6)?) << 16;
        let (form, size) = match (tag, bits) {
            (PCM, 8) => (Form::U8, 1),
            (PCM, 16) => (Form::Signed(2), 2),
            (PCM, 24) => (Form::Signed(3), 3),
            (PCM, 32) => (Form::Signed(4), 4),
            (FLOAT, 32) => (Form::F32, 4),
            (FLOAT, 64) => (Form::F64, 8),
            _ => {
                return Err(ImportError::Unsupported {
                    what: "this coding of a WAV file",
                });
            }
        };
        let rate = Rate::new(hz.into(), 1).ok_or(ImportError::NoRate)?;
        let max = limits.channels_max;
        if tracks > max {
            return Err(ImportError::TooManyChannels {
                channels: tracks,
                max,
            });
        }
        let block = size * tracks;
        if block == 0 {
            return Err(ImportError::Empty);
        }
        let known = Known {
            rate,
            samples: Some((data.len() / block) as u64),
        };
        let name = |track: usize| AnalogName {
            name: format!("A{track}"),
            unit: String::new(),
        };
        let is_short = matches!(form, Form::U8 | Form::Signed(2));
        let shape = Shape {
            logic: Vec::new(),
            analog: (0..tracks).map(name).collect(),
            tick: rate,
            is_sampled: true,
            ends_with_sample: false,
            logic_rate: None,
            analog_rate: Some(known),
            // Values from -1 to 1: 16 bits are kept as they are.
            scale: is_short.then_some(Scale {
                full: 2.0,
                offset: -1.0,
            }),
            notes: Vec::new(),
        };
        Ok(Self {
            shape,
            data,
            form,
            block,
            offset: 0,
        })
    }
}

impl Form {
    fn bytes(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::Signed(bytes) => bytes,
            Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    fn value(self, bytes: &[u8]) -> f64 {
        match (self, bytes) {
            (Self::U8, [byte, ..]) => f64::from(*byte) / 128.0 - 1.0,
            (Self::F32, [a, b, c, d, ..]) => f32::from_le_bytes([*a, *b, *c, *d]).into(),
            (Self::F64, [a, b, c, d, e, f, g, h, ..]) => {
                f64::from_le_bytes([*a, *b, *c, *d, *e, *f, *g, *h])
            }
            (Self::Signed(size), bytes) => {
                let mut word = [0; 4];
                let size = size.min(bytes.len());
                word[4 - size..].copy_from_slice(&bytes[..size]);
                f64::from(i32::from_le_bytes(word)) / 2_f64.powi(31)
            }
            _ => 0.0,
        }
    }
}

impl Source for Wave<'_> {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn choose(&mut self, choice: &Choice) {
        self.offset = choice.analog.unwrap_or(0) * self.form.bytes();
    }

    fn walk(&self, wanted: Wanted, sink: &mut dyn Sink) -> Result<u64, ImportError> {
        let blocks = self.data.chunks_exact(self.block);
        let end = blocks.len() as u64;
        if wanted.analog {
            for (at, block) in (0..).zip(blocks) {
                sink.value(at, self.form.value(&block[self.offset..]))?;
            }
        }
        Ok(end)
    }
}
