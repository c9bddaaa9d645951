//! Hands a capture to a decoder from elsewhere, block by block, and what it finds to the sink.

use super::check::Check;
use super::packing::{Packed, Samples};
use super::{CHANGES_A_CALL_MAX, Config, ForeignDecoding, ForeignError, Input, SAMPLES_A_CALL_MAX};
use crate::annotation::{Annotation, ClassSet};
use crate::run::{DecodeError, Sink};
use crate::segment::SegmentError;
use std::ops::Range;

/// Why no more is fed.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The sink has enough.
    Enough,
    Failed(DecodeError),
}

impl From<SegmentError> for Stop {
    fn from(error: SegmentError) -> Self {
        Self::Failed(error.into())
    }
}

/// A capture on its way to the decoder.
pub(crate) struct Feeder<'s> {
    config: &'s Config,
    decoding: Box<dyn ForeignDecoding>,
    shape: Shape,
    shown: ClassSet,
    check: Check,
    sink: Sink<'s>,
}

enum Shape {
    Changes(Packed),
    Samples(Samples),
}

impl<'s> Feeder<'s> {
    /// For these samples of a capture.
    pub(crate) fn new(
        config: &'s Config,
        decoding: Box<dyn ForeignDecoding>,
        shown: ClassSet,
        range: &Range<u64>,
        sink: Sink<'s>,
    ) -> Self {
        Self {
            config,
            decoding,
            shape: match config.foreign.input() {
                Input::Changes => Shape::Changes(Packed::default()),
                Input::Samples => Shape::Samples(Samples::from(range.start)),
            },
            shown,
            check: Check::new(
                config.foreign.decoder().classes.len(),
                range.end,
                config.foreign.ends(),
            ),
            sink,
        }
    }

    /// From sample `at` on, the levels are these. The first is that of the first sample.
    #[inline]
    pub(crate) fn change(&mut self, at: u64, levels: u8) -> Result<(), Stop> {
        match &mut self.shape {
            Shape::Changes(packed) => {
                packed.push(at, levels);
                if packed.data.len() < CHANGES_A_CALL_MAX {
                    return Ok(());
                }
                self.pass()
            }
            Shape::Samples(_) => {
                self.fill(at)?;
                if let Shape::Samples(samples) = &mut self.shape {
                    samples.set(levels);
                }
                Ok(())
            }
        }
    }

    /// The capture ends before sample `end`.
    pub(crate) fn finish(mut self, end: u64) -> Result<(), Stop> {
        self.fill(end)?;
        self.pass()?;
        let found = self.decoding.finish(end);
        self.take(found)?;
        while let Some(found) = self.decoding.rest().transpose() {
            self.take(found)?;
        }
        Ok(())
    }

    fn fill(&mut self, at: u64) -> Result<(), Stop> {
        while let Shape::Samples(samples) = &mut self.shape {
            if samples.fill(at, SAMPLES_A_CALL_MAX) {
                break;
            }
            self.pass()?;
        }
        Ok(())
    }

    /// Pass on what there is.
    #[inline(never)]
    fn pass(&mut self) -> Result<(), Stop> {
        match &mut self.shape {
            Shape::Changes(packed) => {
                // A long gap may have added more than one entry.
                for data in packed.data.chunks(CHANGES_A_CALL_MAX) {
                    let found = self.decoding.changes(data);
                    taken(
                        self.config,
                        &mut self.check,
                        self.shown,
                        &mut *self.sink,
                        found,
                    )?;
                }
                packed.data.clear();
            }
            Shape::Samples(samples) if samples.data.is_empty() => {}
            Shape::Samples(samples) => {
                let found = self.decoding.samples(samples.start, &samples.data);
                samples.clear();
                self.take(found)?;
            }
        }
        Ok(())
    }

    fn take(&mut self, found: Result<Vec<Annotation>, ForeignError>) -> Result<(), Stop> {
        taken(
            self.config,
            &mut self.check,
            self.shown,
            &mut *self.sink,
            found,
        )
    }
}

/// Check what was found and show it. The sink is asked after every call, also for nothing, so that it can end a decoding
/// that finds nothing.
fn taken(
    config: &Config,
    check: &mut Check,
    shown: ClassSet,
    sink: Sink<'_>,
    found: Result<Vec<Annotation>, ForeignError>,
) -> Result<(), Stop> {
    let failed = |source| {
        let title = config.foreign.title().to_owned();
        Stop::Failed(DecodeError::Foreign { title, source })
    };
    let mut found = found.map_err(failed)?;
    check.take(&mut found).map_err(|bad| failed(bad.into()))?;
    found.retain(|annotation| shown.has(annotation.class));
    if sink(&found).is_break() {
        return Err(Stop::Enough);
    }
    Ok(())
}
