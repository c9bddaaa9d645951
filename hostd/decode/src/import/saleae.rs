//! Binary exports of Saleae's Logic 2, versions 0 and 1: one channel a file.
//!
//! A digital file holds the times of transitions in seconds. Version 0 does not say the rate; times are read to the
//! nanosecond, which fits every rate of its analyzers, and to the picosecond where they are finer.

use super::ImportError;
use super::choice::Choice;
use super::rate::Rate;
use super::source::{AnalogName, Known, Shape, Sink, Source, Wanted};

/// How far times may be from whole nanoseconds, in nanoseconds.
const NEAR: f64 = 0.02;

/// A stretch of a digital channel without gaps.
struct Chunk<'a> {
    high: bool,
    begin: f64,
    end: f64,
    /// Times in seconds, 8 bytes each.
    times: &'a [u8],
}

enum Content<'a> {
    Digital(Vec<Chunk<'a>>),
    /// 4 bytes each.
    Analog(&'a [u8]),
}

/// A file whose header was read.
pub(super) struct Export<'a> {
    shape: Shape,
    content: Content<'a>,
}

/// What is left to read of a file.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn bytes(&mut self, count: u64) -> Result<&'a [u8], ImportError> {
        let damaged = ImportError::Damaged {
            what: "a binary export of Saleae",
        };
        let split = usize::try_from(count)
            .ok()
            .and_then(|count| self.0.split_at_checked(count));
        let (now, rest) = split.ok_or(damaged)?;
        self.0 = rest;
        Ok(now)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], ImportError> {
        let mut array = [0; N];
        array.copy_from_slice(self.bytes(N as u64)?);
        Ok(array)
    }

    fn u32(&mut self) -> Result<u32, ImportError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> Result<u64, ImportError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// A number that is one.
    fn f64(&mut self) -> Result<f64, ImportError> {
        let number = f64::from_le_bytes(self.array()?);
        let damaged = ImportError::Damaged {
            what: "a time of a binary export of Saleae",
        };
        if number.is_finite() {
            Ok(number)
        } else {
            Err(damaged)
        }
    }
}

impl<'a> Export<'a> {
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, ImportError> {
        let mut rest = Rest(bytes.get(8..).unwrap_or_default());
        match (rest.u32()?, rest.u32()?) {
            (version @ 0..=1, 0) => Self::digital(rest, version == 1),
            (version @ 0..=1, 1) => Self::analog(rest, version == 1),
            _ => Err(ImportError::Unsupported {
                what: "this version of Saleae's binary export",
            }),
        }
    }

    fn digital(mut rest: Rest<'a>, has_chunks: bool) -> Result<Self, ImportError> {
        let count = if has_chunks { rest.u64()? } else { 1 };
        let mut chunks: Vec<Chunk<'a>> = Vec::new();
        let mut hz = None;
        for _ in 0..count {
            let high = rest.u32()? != 0;
            if has_chunks {
                let rate_hz = rest.f64()?;
                hz = Some(hz.unwrap_or(0.0_f64).max(rate_hz));
            }
            let (begin, end) = (rest.f64()?, rest.f64()?);
            let transitions = rest.u64()?;
            let times = rest.bytes(transitions.saturating_mul(8))?;
            if chunks.last().is_some_and(|last| begin < last.end) || end < begin {
                return Err(ImportError::Damaged {
                    what: "the order of a binary export of Saleae",
                });
            }
            chunks.push(Chunk {
                high,
                begin,
                end,
                times,
            });
        }
        let Some(first) = chunks.first() else {
            return Err(ImportError::Empty);
        };
        let mut notes = Vec::new();
        if chunks.len() > 1 {
            notes.push("The file has gaps; the level before each was kept.".to_owned());
        }
        let known = match hz {
            Some(hz) => Some(Rate::of_hz(hz).ok_or(ImportError::Rate { hz })?),
            None => None,
        };
        let tick = known.unwrap_or_else(|| decimal(&chunks, first.begin));
        let shape = Shape {
            logic: vec!["D0".to_owned()],
            analog: Vec::new(),
            tick,
            is_sampled: false,
            ends_with_sample: false,
            logic_rate: known.map(|rate| Known {
                rate,
                samples: None,
            }),
            analog_rate: None,
            scale: None,
            notes,
        };
        Ok(Self {
            shape,
            content: Content::Digital(chunks),
        })
    }

    fn analog(mut rest: Rest<'a>, has_waveforms: bool) -> Result<Self, ImportError> {
        let waveforms = if has_waveforms { rest.u64()? } else { 1 };
        if waveforms == 0 {
            return Err(ImportError::Empty);
        }
        rest.f64()?;
        let hz = if has_waveforms {
            rest.f64()?;
            rest.f64()?
        } else {
            rest.u64()? as f64
        };
        let hz = hz / rest.u64()?.max(1) as f64;
        let rate = Rate::of_hz(hz).ok_or(ImportError::Rate { hz })?;
        let samples = rest.u64()?;
        let data = rest.bytes(samples.saturating_mul(4))?;
        let mut notes = Vec::new();
        if waveforms > 1 {
            notes.push(format!("The first of {waveforms} waveforms was taken."));
        }
        let shape = Shape {
            logic: Vec::new(),
            analog: vec![AnalogName {
                name: "A0".to_owned(),
                unit: "V".to_owned(),
            }],
            tick: rate,
            is_sampled: true,
            ends_with_sample: false,
            logic_rate: None,
            analog_rate: Some(Known {
                rate,
                samples: Some(samples),
            }),
            scale: None,
            notes,
        };
        Ok(Self {
            shape,
            content: Content::Analog(data),
        })
    }
}

impl<'a> Chunk<'a> {
    fn times(&self) -> impl Iterator<Item = f64> + use<'a> {
        self.times
            .as_chunks::<8>()
            .0
            .iter()
            .map(|time| f64::from_le_bytes(*time))
    }
}

/// The coarsest of nano- and picoseconds that fits all times.
fn decimal(chunks: &[Chunk<'_>], begin: f64) -> Rate {
    let is_whole = |time: f64| {
        let ticks = (time - begin) * 1e9;
        (ticks - ticks.round()).abs() <= NEAR
    };
    let fits = |chunk: &Chunk<'_>| {
        is_whole(chunk.begin) && is_whole(chunk.end) && chunk.times().all(is_whole)
    };
    Rate::decimal(if chunks.iter().all(fits) { 9 } else { 12 })
}

/// A time in ticks from the beginning.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times are not before the beginning; a cast saturates"
)]
fn ticks(time: f64, begin: f64, tick: Rate) -> u64 {
    ((time - begin) * tick.hz()).round() as u64
}

impl Source for Export<'_> {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn choose(&mut self, _: &Choice) {}

    fn walk(&self, wanted: Wanted, sink: &mut dyn Sink) -> Result<u64, ImportError> {
        let chunks = match &self.content {
            Content::Analog(data) => {
                let samples = data.as_chunks::<4>().0;
                if wanted.analog {
                    for (at, sample) in (0..).zip(samples) {
                        sink.value(at, f32::from_le_bytes(*sample).into())?;
                    }
                }
                return Ok(samples.len() as u64);
            }
            Content::Digital(chunks) => chunks,
        };
        let begin = chunks.first().map_or(0.0, |chunk| chunk.begin);
        let mut end = 0;
        for chunk in chunks {
            let mut level = chunk.high;
            let mut last = ticks(chunk.begin, begin, self.shape.tick).max(end);
            sink.levels(last, level.into())?;
            for time in chunk.times() {
                let at = ticks(time, begin, self.shape.tick);
                if !time.is_finite() || at < last {
                    return Err(ImportError::Damaged {
                        what: "the order of a binary export of Saleae",
                    });
                }
                (last, level) = (at, !level);
                sink.levels(at, level.into())?;
            }
            end = ticks(chunk.end, begin, self.shape.tick).max(last);
        }
        Ok(end)
    }
}
