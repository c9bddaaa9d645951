//! Levels and an analog input from one instant: one run of `sigrok-cli`, which samples both.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::timeout;

use super::arguments::{self, Mode};
use super::child::Child;
use super::mixed::Lines;
use super::shown::Shown;
use super::stream::Stream;
use super::{Sigrok, hertz, wiring, within};
use crate::capture::{Capture, Plan, PlanBeside, Source, Turning};
use crate::error::AcquireError;
use crate::instrument::{Beside, Facts, Request};
use crate::intake::{Intake, Piece};
use crate::trigger::Search;

/// Samples that may come before the rate is told.
const AHEAD_PIECES_MAX: usize = 256;

impl Sigrok {
    pub(super) async fn start_both(
        &self,
        request: &Request,
        beside: Beside,
        shown: &Shown,
        facts: &Facts,
    ) -> Result<Capture, AcquireError> {
        let wiring = wiring(shown, facts)?;
        let rate_hz = facts.rates.fitting(request.rate_hz);
        let likely_hz = rate_hz.map_or(request.rate_hz, hertz);
        let samples = span(request, beside, likely_hz, facts)?;
        let mode = Mode::of_both(request, shown)?;
        let input = &facts.analog[beside.input];
        let words = arguments::both(&self.driver, shown, input, &mode, samples, rate_hz);
        let child = Child::start(self.tool(), &words, self.claim().await?)?;
        let stream = Stream::new(child, self.driver.clone(), None);
        let mixed = Mixed {
            stream,
            lines: Lines::new(wiring.unit(), input),
            pieces: VecDeque::new(),
        };
        let start_within = within(samples, likely_hz.min(request.rate_hz));
        let begun = timeout(start_within, mixed.behind_rate()).await;
        let (mixed, rate_hz) = begun.map_err(|_| AcquireError::Silent {
            waited: start_within,
        })??;
        let samples = span(request, beside, hertz(rate_hz), facts)?;
        let search = request
            .trigger
            .and_then(|trigger| Search::new(trigger, &wiring, rate_hz));
        let plan = Plan {
            unit: wiring.unit(),
            samples: request.samples,
            rate_hz: hertz(rate_hz),
            search,
            turning: Turning::logic(wiring),
            within: within(samples, hertz(rate_hz)),
            beside: Some(PlanBeside {
                samples: beside.samples,
                every: beside.every(hertz(rate_hz)),
                fit: facts.fit,
            }),
        };
        Ok(Capture::spawn(mixed, plan))
    }
}

/// Samples of the instrument that both kinds take together.
fn span(
    request: &Request,
    beside: Beside,
    rate_hz: f64,
    facts: &Facts,
) -> Result<u64, AcquireError> {
    let found = request.samples.max(beside.span(rate_hz));
    let most = facts.samples_max;
    match found <= most {
        true => Ok(found),
        false => Err(AcquireError::Span {
            found,
            rate_hz,
            most,
        }),
    }
}

/// The standard output of a capture of both kinds.
struct Mixed {
    stream: Stream,
    lines: Lines,
    /// Samples that were read and not taken.
    pieces: VecDeque<Piece>,
}

impl Mixed {
    /// Reads more, perhaps nothing that is a sample. `false` at the end.
    async fn more(&mut self) -> Result<bool, AcquireError> {
        let Some(bytes) = self.stream.bytes().await? else {
            return Ok(false);
        };
        self.lines.push(&bytes, &mut self.pieces)?;
        Ok(true)
    }

    /// The same once the rate is known.
    async fn behind_rate(mut self) -> Result<(Self, u64), AcquireError> {
        loop {
            if let Some(rate_hz) = self.lines.rate_hz() {
                return Ok((self, rate_hz));
            }
            if AHEAD_PIECES_MAX < self.pieces.len() {
                let what = "its levels do not tell their rate".to_owned();
                return Err(AcquireError::Malformed { what });
            }
            if !self.more().await? {
                return Err(self.stream.why(0, 0).await);
            }
        }
    }
}

impl Source for Mixed {
    async fn read(&mut self) -> Result<Option<Piece>, AcquireError> {
        loop {
            if let Some(piece) = self.pieces.pop_front() {
                return Ok(Some(piece));
            }
            if !self.more().await? {
                return Ok(None);
            }
        }
    }

    async fn ended(&mut self, intake: &Intake) -> AcquireError {
        self.stream.ended(intake).await
    }

    fn late(&self, intake: &Intake, waited: Duration) -> AcquireError {
        self.stream.late(intake, waited)
    }
}
