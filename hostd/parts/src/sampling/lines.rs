//! A capture as the lines of the protocol: frames of the instrument, some edges or counts in each line.

use std::sync::Arc;

use acquire::{Input, Request};
use pod_protocol::capture::Frame;
use pod_protocol::chunk::{Extent, encode_b64};
use serde_json::{Value, json};
use tokio::time::{Duration, sleep};

use super::Sampler;
use crate::client::{Client, Gone};
use crate::refuse::Refuse;

/// Most edges of a line, so that a line stays far below what clients take.
const EDGES_MAX: usize = 4096;

/// While slow samples arrive, clients hear this often that the capture goes on; they give up after 30 s of silence.
const SIGN_OF_LIFE: Duration = Duration::from_secs(10);

/// A capture that is to be made.
pub(crate) struct Capture {
    sampler: Arc<Sampler>,
    request: Request,
    /// Counts as base64url, rather than decimal.
    is_b64: bool,
}

impl Capture {
    pub(crate) fn new(sampler: &Arc<Sampler>, request: Request, is_b64: bool) -> Self {
        Self {
            sampler: sampler.clone(),
            request,
            is_b64,
        }
    }

    /// Makes it and sends its lines, until the client closes.
    pub(crate) async fn run(self, client: &mut Client) -> Result<(), Gone> {
        let starting = self.sampler.instrument.start(self.request);
        let started = tokio::select! {
            started = starting => started,
            () = client.closed() => return Err(Gone),
        };
        let mut samples = match started {
            Ok(samples) => samples,
            Err(error) => return client.reply(Err(self.sampler.failed(&error))).await,
        };
        let mut first = Some(self.rates(&samples));
        let mut covered = Covered::default();
        while covered.is_short(self.wanted(&samples)) {
            let next = tokio::select! {
                next = samples.next() => next,
                () = client.closed() => return Err(Gone),
                () = sleep(SIGN_OF_LIFE), if first.is_none() => {
                    client.line(&self.empty(covered.la)).await?;
                    continue;
                }
            };
            let frame = match next {
                Some(Ok(frame)) => frame,
                Some(Err(error)) => return client.reply(Err(self.sampler.failed(&error))).await,
                None => return client.reply(Err(Refuse::Short)).await,
            };
            let wanted = self.wanted(&samples);
            for (upto, mut line) in self.lines(frame) {
                covered.add(upto);
                let extent = self.extent(&samples).filter(|_| first.is_some());
                for (name, samples) in extent.into_iter().flat_map(Extent::fields) {
                    line[name] = json!(samples);
                }
                for (rate, hz) in first.take().into_iter().flatten() {
                    line[rate] = json!(hz);
                }
                let more = covered.is_short(wanted);
                if let Some(trigger) = self.request.trigger.filter(|_| !more) {
                    line["trigger"] = trigger.report();
                }
                line["status"] = json!("ok");
                line["more"] = json!(more);
                client.line(&line).await?;
            }
        }
        Ok(())
    }

    /// Samples of the ADC and of the LA that there will be.
    fn wanted(&self, samples: &acquire::Capture) -> (u64, u64) {
        let (asked, beside) = samples.samples();
        match self.request.input {
            Input::Logic => (0, asked),
            Input::Analog(_) => (asked, 0),
            Input::Both(_) => (beside, asked),
        }
    }

    /// How a capture with samples before its trigger turned out.
    fn extent(&self, samples: &acquire::Capture) -> Option<Extent> {
        self.request
            .trigger
            .filter(|trigger| trigger.pre_samples > 0)?;
        let trigger_sample = samples.trigger_sample()?;
        let (adc_samples, la_samples) = self.wanted(samples);
        Some(Extent {
            trigger_sample,
            adc_samples,
            la_samples,
        })
    }

    /// The rates of both kinds of samples, as far as there are some, by their names.
    fn rates(&self, samples: &acquire::Capture) -> Vec<(&'static str, f64)> {
        let (la, adc) = ("la_rate_hz", "adc_rate_hz");
        match self.request.input {
            Input::Logic => vec![(la, samples.rate_hz())],
            Input::Analog(_) => vec![(adc, samples.rate_hz())],
            Input::Both(_) => {
                let beside = samples.beside_hz().map(|hz| (adc, hz));
                beside
                    .into_iter()
                    .chain([(la, samples.rate_hz())])
                    .collect()
            }
        }
    }

    /// A line without samples.
    fn empty(&self, covered: u64) -> Value {
        match self.request.input {
            Input::Logic | Input::Both(_) => {
                json!({"status": "ok", "la": true, "la_edges": [], "la_upto": covered, "more": true})
            }
            Input::Analog(_) => json!({"status": "ok", "data": [], "more": true}),
        }
    }

    /// The lines of a frame, each with the samples covered up to its end.
    fn lines(&self, frame: Frame) -> Vec<(Upto, Value)> {
        match frame {
            Frame::La { edges, upto } => {
                let mut lines = Vec::new();
                let mut rest = edges.as_slice();
                loop {
                    let (now, later) = rest.split_at(rest.len().min(EDGES_MAX));
                    let end = later.first().map_or(upto, |(index, _)| *index);
                    lines.push((
                        Upto::La(end),
                        json!({"la": true, "la_edges": now, "la_upto": end}),
                    ));
                    rest = later;
                    if rest.is_empty() {
                        return lines;
                    }
                }
            }
            Frame::Adc {
                start_sample,
                counts,
            } => {
                let upto = start_sample + counts.len() as u64;
                let line = match self.is_b64 {
                    true => json!({"bits": 16, "b64": encode_b64(&counts)}),
                    false => json!({"bits": 16, "data": counts}),
                };
                vec![(Upto::Adc(upto), line)]
            }
        }
    }
}

/// How far a line brings the samples of its kind.
enum Upto {
    La(u64),
    Adc(u64),
}

/// Samples of each kind that were sent.
#[derive(Default)]
struct Covered {
    la: u64,
    adc: u64,
}

impl Covered {
    fn add(&mut self, upto: Upto) {
        match upto {
            Upto::La(upto) => self.la = upto,
            Upto::Adc(upto) => self.adc = upto,
        }
    }

    fn is_short(&self, (adc, la): (u64, u64)) -> bool {
        self.la < la || self.adc < adc
    }
}
