//! A capture under way: a task that takes what the instrument samples, and frames made of it when they are asked for.

use std::time::Duration;

use pod_protocol::AdcFit;
use pod_protocol::capture::Frame;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout_at};

use crate::edges::Edges;
use crate::error::AcquireError;
use crate::intake::{Begun, Intake, Piece};
use crate::trigger::Search;
use crate::volts::{self, VOLT_BYTES};
use crate::wiring::Wiring;

/// Most samples of one frame, which bounds what it takes when every sample is an edge.
const FRAME_SAMPLES_MAX: usize = 65_536;

/// How much later than by the instrument's clock a trigger may count as missed: what starts and buffers take.
const TRIGGER_SLACK: Duration = Duration::from_secs(2);

/// Where raw samples come from. Dropping it stops the instrument.
pub(crate) trait Source: Send + 'static {
    /// Some bytes, perhaps none. `None` at the end. May be cancelled only together with the source.
    fn read(&mut self) -> impl Future<Output = Result<Option<Piece>, AcquireError>> + Send;

    /// What it means that the samples ended before all had come.
    fn ended(&mut self, intake: &Intake) -> impl Future<Output = AcquireError> + Send;

    /// What it means that they are not complete when they should be.
    fn late(&self, intake: &Intake, waited: Duration) -> AcquireError;
}

/// What raw samples become.
#[derive(Debug)]
pub(crate) enum Turning {
    Logic(Edges),
    Analog(AdcFit),
}

impl Turning {
    pub(crate) fn logic(wiring: Wiring) -> Self {
        Self::Logic(Edges::new(wiring))
    }

    fn frame(&mut self, raw: &[u8], start: u64, samples: usize) -> Frame {
        match self {
            Self::Logic(edges) => Frame::La {
                edges: edges.of(raw, start),
                upto: start + samples as u64,
            },
            Self::Analog(fit) => Frame::Adc {
                start_sample: start,
                counts: volts::counts(fit, raw),
            },
        }
    }
}

/// How a capture is taken.
pub(crate) struct Plan {
    /// Bytes of a raw sample.
    pub(crate) unit: usize,
    /// Samples asked for.
    pub(crate) samples: u64,
    /// The rate, in hertz.
    pub(crate) rate_hz: f64,
    /// What is looked for in the samples.
    pub(crate) search: Option<Search>,
    /// What the samples become.
    pub(crate) turning: Turning,
    /// How long they may take, from sample 0 on.
    pub(crate) within: Duration,
    /// Analog samples that come beside them.
    pub(crate) beside: Option<PlanBeside>,
}

/// How analog samples beside levels are taken.
pub(crate) struct PlanBeside {
    /// Samples asked for.
    pub(crate) samples: u64,
    /// Of how many that come one is kept.
    pub(crate) every: u64,
    /// What makes counts of them.
    pub(crate) fit: AdcFit,
}

/// Samples of one kind on their way to frames.
struct Track {
    unit: usize,
    turning: Turning,
    /// The index of the next sample, and how many were asked for.
    next: u64,
    asked: u64,
}

/// What arrives of a capture.
enum Arrived {
    /// The trigger has come; samples follow.
    Begun(Begun),
    Samples(Piece),
}

/// A capture under way. Dropping it stops the instrument.
///
/// What an instrument samples cannot wait for whoever takes it, so the raw samples are kept here, at most
/// [`SAMPLES_MAX`](crate::SAMPLES_MAX) of them; they become frames only when these are asked for.
pub struct Capture {
    rate_hz: f64,
    beside_hz: Option<f64>,
    /// One, or two with analog samples beside levels.
    tracks: Vec<Track>,
    /// As many samples as were asked for, and no more; so it needs no other bound.
    arriving: mpsc::UnboundedReceiver<Result<Arrived, AcquireError>>,
    /// Samples that arrived, of which `taken` bytes became frames.
    raw: Piece,
    taken: usize,
    /// Where the trigger lies, once that is known.
    trigger_sample: Option<u64>,
    has_failed: bool,
    pump: AbortHandle,
}

impl Drop for Capture {
    fn drop(&mut self) {
        self.pump.abort();
    }
}

impl Capture {
    /// Starts to take samples of a source that samples already.
    pub(crate) fn spawn(source: impl Source, plan: Plan) -> Self {
        let (send, arriving) = mpsc::unbounded_channel();
        let mut intake = Intake::new(plan.unit, plan.samples, plan.search);
        let mut tracks = vec![Track {
            unit: plan.unit,
            turning: plan.turning,
            next: 0,
            asked: plan.samples,
        }];
        let mut beside_hz = None;
        if let Some(beside) = plan.beside {
            intake = intake.beside(beside.samples, beside.every);
            #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
            let every = beside.every as f64;
            beside_hz = Some(plan.rate_hz / every);
            tracks.push(Track {
                unit: VOLT_BYTES,
                turning: Turning::Analog(beside.fit),
                next: 0,
                asked: beside.samples,
            });
        }
        let within = plan.within;
        let pump = tokio::spawn(async move {
            if let Err(error) = pump(source, intake, within, &send).await {
                // Nobody may want to know any more.
                let _ = send.send(Err(error));
            }
        });
        Self {
            rate_hz: plan.rate_hz,
            beside_hz,
            tracks,
            arriving,
            raw: Vec::new().into(),
            taken: 0,
            trigger_sample: None,
            has_failed: false,
            pump: pump.abort_handle(),
        }
    }

    /// The rate at which the instrument samples, in hertz.
    #[must_use]
    pub fn rate_hz(&self) -> f64 {
        self.rate_hz
    }

    /// The rate of analog samples beside levels, in hertz. Sample 0 of both is of one instant.
    #[must_use]
    pub fn beside_hz(&self) -> Option<f64> {
        self.beside_hz
    }

    /// The sample at which the trigger that was looked for was met, once its frame has come.
    #[must_use]
    pub fn trigger_sample(&self) -> Option<u64> {
        self.trigger_sample
    }

    /// How many samples there will be: of what was asked for, and of an analog input beside levels. Fewer than asked for
    /// once it is known that the trigger came early.
    #[must_use]
    pub fn samples(&self) -> (u64, u64) {
        let mut asked = self.tracks.iter().map(|track| track.asked);
        (asked.next().unwrap_or(0), asked.next().unwrap_or(0))
    }

    /// The next frame, in order; its samples follow those of the frame of its kind before, and all together they are as
    /// many as [`samples`](Self::samples) says. `None` after the last one and after an error. May be cancelled and called again.
    ///
    /// # Errors
    /// Why there are no more samples.
    pub async fn next(&mut self) -> Option<Result<Frame, AcquireError>> {
        if self.has_failed {
            return None;
        }
        while self.taken == self.raw.bytes.len() {
            match self.arriving.recv().await {
                Some(Ok(Arrived::Samples(raw))) => (self.raw, self.taken) = (raw, 0),
                Some(Ok(Arrived::Begun(begun))) => {
                    self.trigger_sample = Some(begun.before);
                    for (track, asked) in self.tracks.iter_mut().zip(begun.asked) {
                        track.asked = asked;
                    }
                }
                None if self.tracks.iter().all(|track| track.next == track.asked) => return None,
                failed => {
                    self.has_failed = true;
                    let error = failed.and_then(Result::err);
                    return Some(Err(error.unwrap_or_else(|| self.aborted())));
                }
            }
        }
        let track = &mut self.tracks[self.raw.track];
        let left = &self.raw.bytes[self.taken..];
        let samples = (left.len() / track.unit).min(FRAME_SAMPLES_MAX);
        let bytes = &left[..samples * track.unit];
        let frame = track.turning.frame(bytes, track.next, samples);
        self.taken += bytes.len();
        track.next += samples as u64;
        Some(Ok(frame))
    }

    /// The task that takes the samples is gone, as when the server stops.
    fn aborted(&self) -> AcquireError {
        let [first, ..] = &self.tracks[..] else {
            unreachable!("there is always one")
        };
        AcquireError::Ended {
            found: first.next,
            asked: first.asked,
            said: String::new(),
        }
    }
}

/// Takes samples until there are enough, and lets go of the source.
async fn pump(
    mut source: impl Source,
    mut intake: Intake,
    within: Duration,
    send: &mpsc::UnboundedSender<Result<Arrived, AcquireError>>,
) -> Result<(), AcquireError> {
    let mut deadline = Instant::now() + within;
    let mut has_begun = false;
    while intake.missing() > 0 {
        let Ok(read) = timeout_at(deadline, source.read()).await else {
            let missed = intake.search().filter(|_| has_begun).map(Search::timeout);
            return Err(missed.unwrap_or_else(|| source.late(&intake, within)));
        };
        let Some(piece) = read? else {
            return Err(source.ended(&intake).await);
        };
        let was_searching = intake.search().is_some();
        let taken = intake.push(piece)?;
        if let Some(search) = intake.search() {
            // The wait begins with the samples: some instruments take seconds to start.
            if !has_begun {
                let wait = Duration::from_millis(search.trigger().timeout_ms.into());
                deadline = Instant::now() + wait + TRIGGER_SLACK;
            }
        } else if was_searching {
            deadline = Instant::now() + within;
        }
        has_begun = true;
        let begun = intake.begun().map(Arrived::Begun);
        let samples = taken.into_iter().filter(|piece| !piece.bytes.is_empty());
        for arrived in begun.into_iter().chain(samples.map(Arrived::Samples)) {
            if send.send(Ok(arrived)).is_err() {
                return Ok(());
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
