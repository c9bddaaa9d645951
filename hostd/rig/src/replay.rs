//! Playing kept waveforms.

use jobs::{BenchError, Until};
use lab::leases::Entered;
use lab::replay::{self, Request};
use lab::waveforms::signal::Mapping;
use pipeline::plan::Replay;
use store::waveforms::Output;

use crate::device::Rig;
use crate::errors::{of_replay, of_waveform};

/// Waveforms that are looked through for a name at once.
const PAGE: usize = 200;

impl Rig {
    pub(crate) fn play(&self, replay: &Replay, until: &Until<'_>) -> Result<(), BenchError> {
        let Entered {
            device,
            pod,
            mut visit,
            ..
        } = self.enter()?;
        let offline = || BenchError::Lost("the pod is offline".to_owned());
        let capabilities = device.capabilities().ok_or_else(offline)?;
        let waveforms = &self.lab.waveforms;
        self.drive(until, &mut visit, async {
            let id = self.waveform(&replay.waveform).await?;
            let sampled = waveforms.sampled(&self.hold.org, &id).await;
            let sampled = sampled.map_err(|error| of_waveform(&error))?;
            let played = replay::start(waveforms, &pod, capabilities, sampled, request(replay));
            played.await.map(drop).map_err(|error| of_replay(&error))
        })
    }

    /// The id of a waveform that is meant by its name or id: the newest of a name.
    async fn waveform(&self, meant: &str) -> Result<String, BenchError> {
        let mut before: Option<String> = None;
        loop {
            let waveforms = &self.lab.waveforms;
            let page = waveforms
                .list(&self.hold.org, before.as_deref(), PAGE)
                .await;
            let page = page.map_err(|error| of_waveform(&error))?;
            let is_meant = |id: &str, name: &str| id == meant || name == meant;
            if let Some(found) = page.iter().find(|w| is_meant(&w.id, &w.name)) {
                return Ok(found.id.clone());
            }
            before = page.last().map(|waveform| waveform.id.clone());
            if before.is_none() {
                let why = format!("no waveform is called {meant}");
                return Err(BenchError::Refused(why));
            }
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "rates of the DAC are far below 2^53"
)]
fn request(replay: &Replay) -> Request {
    Request {
        output: match replay.output {
            pipeline::Output::V3 => Output::V3,
            pipeline::Output::V5 => Output::V5,
            pipeline::Output::V12 => Output::V12,
            pipeline::Output::Current => Output::Current,
        },
        mapping: match replay.mapping {
            pipeline::Mapping::Faithful => Mapping::Faithful,
            pipeline::Mapping::Fit => Mapping::Fit,
        },
        rate_hz: replay.rate_hz.map(|rate| rate as f64),
        window_start: 0,
        window_len: None,
        codes_max: None,
        on_capture: false,
        fault: None,
    }
}
