//! sigrok sessions: raw logic samples, and a float for each analog sample.

use std::ops::ControlFlow;

use super::choice::Choice;
use super::rate::Rate;
use super::source::{AnalogName, Known, Shape, Sink, Source, Wanted};
use super::{ImportError, Limits};
use crate::changes::{each_change, word};
use crate::sr::Archive;

/// A session whose directory was read.
pub(super) struct Session<'a> {
    archive: Archive<'a>,
    shape: Shape,
    choice: Choice,
}

impl<'a> Session<'a> {
    pub(super) fn open(
        bytes: &'a [u8],
        rate_hz: Option<f64>,
        limits: &Limits,
    ) -> Result<Self, ImportError> {
        let archive = Archive::parse_any(bytes, &limits.session)?;
        let hz = archive
            .sample_rate_hz()
            .or(rate_hz)
            .ok_or(ImportError::NoRate)?;
        let rate = Rate::of_hz(hz).ok_or(ImportError::Rate { hz })?;
        let samples = archive.total_samples();
        // Old files name more channels than a sample has bits; the surplus never carried data.
        let channels = match samples {
            0 => 0,
            _ => archive.channels().len().min(archive.unit_size() * 8),
        };
        let analog = archive.analog().iter().map(|channel| AnalogName {
            name: channel.name().to_owned(),
            unit: String::new(),
        });
        let shape = Shape {
            logic: archive.channels()[..channels].to_vec(),
            analog: analog.collect(),
            tick: rate,
            is_sampled: true,
            ends_with_sample: false,
            logic_rate: Some(Known {
                rate,
                samples: Some(samples),
            }),
            analog_rate: None,
            scale: None,
            notes: Vec::new(),
        };
        let choice = Choice::default();
        Ok(Self {
            archive,
            shape,
            choice,
        })
    }

    fn walk_logic(&self, sink: &mut dyn Sink) -> Result<(), ImportError> {
        let unit = self.archive.unit_size();
        let is_all = self
            .choice
            .logic
            .iter()
            .copied()
            .eq(0..self.choice.logic.len());
        let mask = self
            .choice
            .logic
            .iter()
            .fold(0, |mask, channel| mask | 1_u64 << channel);
        let picked = |word: u64| {
            let bits = self.choice.logic.iter().enumerate();
            bits.fold(0, |levels, (bit, channel)| {
                levels | (word >> channel & 1) << bit
            })
        };
        let (mut at, mut last) = (0, None);
        let mut failed = None;
        let _ = self.archive.visit(&mut |raw| {
            let shown = if is_all {
                sink.samples(raw, unit)
            } else {
                let first = word(&raw[..unit]) & mask;
                let begun = match last {
                    Some(_) => Ok(()),
                    None => sink.levels(at, picked(first)),
                };
                let before = last.unwrap_or(first);
                begun
                    .and_then(|()| {
                        each_change(raw, unit, mask, before, |index, word| {
                            sink.levels(at + index, picked(word))
                        })
                    })
                    .map(|word| last = Some(word))
            };
            at += (raw.len() / unit) as u64;
            match shown {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    failed = Some(error);
                    ControlFlow::Break(())
                }
            }
        })?;
        failed.map_or(Ok(()), Err)
    }

    fn walk_analog(&self, channel: usize, sink: &mut dyn Sink) -> Result<(), ImportError> {
        let mut at = 0;
        let mut failed = None;
        let _ = self.archive.analog()[channel].visit(&mut |raw| {
            for sample in raw.as_chunks::<4>().0 {
                if let Err(error) = sink.value(at, f32::from_le_bytes(*sample).into()) {
                    failed = Some(error);
                    return ControlFlow::Break(());
                }
                at += 1;
            }
            ControlFlow::Continue(())
        })?;
        failed.map_or(Ok(()), Err)
    }
}

impl Source for Session<'_> {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn choose(&mut self, choice: &Choice) {
        self.choice = choice.clone();
        self.shape.analog_rate = choice.analog.map(|channel| Known {
            rate: self.shape.tick,
            samples: Some(self.archive.analog()[channel].samples()),
        });
    }

    fn walk(&self, wanted: Wanted, sink: &mut dyn Sink) -> Result<u64, ImportError> {
        if wanted.logic {
            self.walk_logic(sink)?;
        }
        if let Some(channel) = self.choice.analog.filter(|_| wanted.analog) {
            self.walk_analog(channel, sink)?;
        }
        Ok(self.archive.total_samples())
    }
}
