//! A capture as the lines of the protocol: frames of the instrument, some edges or counts in each line.

use std::sync::Arc;

use acquire::{Input, Request};
use pod_protocol::capture::{Frame, Trigger};
use pod_protocol::chunk::encode_b64;
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
        while covered.is_short(&self.request) {
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
            for (upto, mut line) in self.lines(frame) {
                covered.add(upto);
                for (rate, hz) in first.take().into_iter().flatten() {
                    line[rate] = json!(hz);
                }
                let more = covered.is_short(&self.request);
                if let Some(trigger) = self.request.trigger.filter(|_| !more) {
                    line["trigger"] = fired(trigger);
                }
                line["status"] = json!("ok");
                line["more"] = json!(more);
                client.line(&line).await?;
            }
        }
        Ok(())
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

    fn is_short(&self, request: &Request) -> bool {
        match request.input {
            Input::Logic => self.la < request.samples,
            Input::Analog(_) => self.adc < request.samples,
            Input::Both(beside) => self.la < request.samples || self.adc < beside.samples,
        }
    }
}

fn fired(trigger: Trigger) -> Value {
    json!({"la": trigger.channel, "edge": trigger.edge.name(), "fired": true})
}
