//! Where the frames of a capture come from: as the pod sends them, or from what a decoder looks at first.

use pods::{CaptureStream, Frame};

use super::hunt::Hunted;
use super::plan::Awaited;
use super::task::TaskError;

/// The frames of one capture.
pub(super) enum Supply {
    Plain(Box<CaptureStream>),
    Hunted(Box<Hunted>),
}

impl Supply {
    /// # Errors
    /// What is awaited cannot be seen at the rate that the pod has.
    pub(super) fn new(stream: CaptureStream, awaited: Option<Awaited>) -> Result<Self, TaskError> {
        Ok(match awaited {
            None => Self::Plain(Box::new(stream)),
            Some(awaited) => Self::Hunted(Box::new(Hunted::new(stream, awaited)?)),
        })
    }

    /// The next frame; none after the last.
    pub(super) async fn next(&mut self) -> Option<Result<Frame, TaskError>> {
        match self {
            Self::Plain(stream) => Some(stream.next().await?.map_err(TaskError::from)),
            Self::Hunted(hunted) => hunted.next().await,
        }
    }

    pub(super) fn adc_rate_hz(&self) -> Option<f64> {
        match self {
            Self::Plain(stream) => stream.adc_rate_hz(),
            Self::Hunted(_) => None,
        }
    }

    pub(super) fn la_rate_hz(&self) -> Option<f64> {
        match self {
            Self::Plain(stream) => stream.la_rate_hz(),
            Self::Hunted(hunted) => hunted.la_rate_hz(),
        }
    }

    /// ADC and LA samples that the capture has.
    pub(super) fn samples(&self) -> (u64, u64) {
        match self {
            Self::Plain(stream) => stream.samples(),
            Self::Hunted(hunted) => (0, hunted.samples()),
        }
    }

    /// Logic samples of the capture that were lost.
    pub(super) fn gaps(&self) -> &[(u64, u64)] {
        match self {
            Self::Plain(stream) => stream.gaps(),
            Self::Hunted(hunted) => hunted.gaps(),
        }
    }

    /// The sample of the trigger.
    pub(super) fn trigger_sample(&self) -> Option<u64> {
        match self {
            Self::Plain(stream) => stream.trigger_sample(),
            Self::Hunted(hunted) => hunted.trigger().map(|(sample, _)| sample),
        }
    }

    /// Samples that had come behind the trigger when it was seen; none where the pod sees it.
    pub(super) fn found_after(&self) -> Option<u64> {
        match self {
            Self::Plain(_) => None,
            Self::Hunted(hunted) => hunted.trigger().map(|(_, after)| after),
        }
    }
}
