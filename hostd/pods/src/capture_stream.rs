//! A capture in progress, on its own connection. Dropping it closes the connection, which is how
//! the pod learns that nobody wants the rest.

use std::collections::VecDeque;
use std::time::Duration;

use pod_protocol::capture::{Assembly, CaptureRequest, Frame};
use pod_protocol::chunk::{self, CaptureLine, Chunk, TriggerReport};
use pod_protocol::connection::BoxedStream;
use pod_protocol::connection::lines::Lines;
use pod_protocol::{REPLY_LINE_BYTES_MAX, rates};

use crate::pod::{PodError, ProtocolError};

/// Frames of a running capture. The reader sets the pace: nothing is read ahead of it.
pub struct CaptureStream {
    lines: Lines<BoxedStream>,
    assembly: Assembly,
    ready: VecDeque<Frame>,
    /// A packet whose samples are to follow.
    announced: Option<(Chunk, usize)>,
    /// How long the first packet may take, then how long each later one may.
    first_timeout: Duration,
    packet_timeout: Duration,
    started: bool,
    finished: bool,
    adc_rate_hz: Option<f64>,
    la_rate_hz: Option<f64>,
    trigger: Option<TriggerReport>,
    /// Where the trigger lies, once that is known.
    trigger_sample: Option<u64>,
}

impl CaptureStream {
    pub(crate) fn new(
        lines: Lines<BoxedStream>,
        request: &CaptureRequest,
        packet_timeout: Duration,
    ) -> Self {
        let (adc_samples, la_samples) = request.samples();
        let adc_divider = request.adc_divider();
        let la_divider = request.la_divider();
        let trigger_wait = request
            .trigger()
            .map_or(0, |trigger| u64::from(trigger.timeout_ms));
        // What is sent while it is taken comes at once: a pod that has died is noticed before its capture would be over.
        let running = match request.is_streamed() {
            true => Duration::ZERO,
            false => Duration::from_nanos(request.duration_ns()),
        };
        Self {
            lines,
            assembly: Assembly::new((adc_samples, la_samples))
                .with_pre_samples(request.pre_samples()),
            ready: VecDeque::new(),
            announced: None,
            first_timeout: packet_timeout + running + Duration::from_millis(trigger_wait),
            packet_timeout,
            started: false,
            finished: false,
            adc_rate_hz: (adc_samples > 0).then(|| rates::sample_rate_hz(adc_divider)),
            la_rate_hz: (la_samples > 0).then(|| rates::sample_rate_hz(la_divider)),
            trigger: None,
            trigger_sample: request
                .trigger()
                .and_then(|trigger| (trigger.pre_samples == 0).then_some(0)),
        }
    }

    /// The next frame; `None` after the last. After an error there are no more frames.
    ///
    /// Safe to cancel: no frame is lost when the future is dropped.
    pub async fn next(&mut self) -> Option<Result<Frame, PodError>> {
        loop {
            if let Some(frame) = self.ready.pop_front() {
                return Some(Ok(frame));
            }
            if self.finished {
                return None;
            }
            if let Err(error) = self.receive().await {
                self.finished = true;
                return Some(Err(error));
            }
        }
    }

    /// Achieved ADC rate in hertz: as the pod reports it in its first packet, until then what its
    /// clock allows. `None` without ADC samples.
    pub fn adc_rate_hz(&self) -> Option<f64> {
        self.adc_rate_hz
    }

    /// Achieved LA rate in hertz, in the same way.
    pub fn la_rate_hz(&self) -> Option<f64> {
        self.la_rate_hz
    }

    /// Whether a packet has arrived, so that the rates are the pod's own.
    pub fn started(&self) -> bool {
        self.started
    }

    /// The pod's report about the trigger, from the last packet.
    pub fn trigger(&self) -> Option<&TriggerReport> {
        self.trigger.as_ref()
    }

    /// The sample at which the trigger was met: of the logic analyzer, or of the ADC alone. `None` without a trigger, and
    /// until the pod has said.
    pub fn trigger_sample(&self) -> Option<u64> {
        self.trigger_sample
    }

    /// ADC and LA samples that the capture has: those asked for, or fewer if its trigger came early.
    pub fn samples(&self) -> (u64, u64) {
        self.assembly.samples()
    }

    /// Logic samples that the pod lost, from one up to another, in order.
    pub fn gaps(&self) -> &[(u64, u64)] {
        self.assembly.gaps()
    }

    async fn receive(&mut self) -> Result<(), PodError> {
        let timeout = if self.started {
            self.packet_timeout
        } else {
            self.first_timeout
        };
        if let Some((_, bytes)) = self.announced {
            let read = tokio::time::timeout(timeout, self.lines.read_bytes(bytes)).await;
            let bytes = read.map_err(|_| PodError::timeout("capture", timeout))?;
            let bytes = bytes.map_err(|error| PodError::from_line("capture", error))?;
            let bytes = bytes.ok_or_else(PodError::closed)?;
            let (chunk, _) = self.announced.take().expect("it was announced");
            let chunk = chunk.take(bytes);
            return self.accept(chunk);
        }
        let line = tokio::time::timeout(timeout, self.lines.read())
            .await
            .map_err(|_| PodError::timeout("capture", timeout))?;
        let line = line
            .map_err(|error| PodError::from_line("capture", error))?
            .ok_or_else(PodError::closed)?;
        if line.is_empty() {
            return Ok(());
        }
        debug_assert!(line.len() <= REPLY_LINE_BYTES_MAX, "bounded by the reader");
        let parsed = match chunk::parse(line) {
            // Half a packet means that the pod is gone, not that it broke the protocol.
            Err(_) if self.lines.is_cut() => return Err(PodError::closed()),
            parsed => parsed.map_err(ProtocolError::Chunk)?,
        };
        match parsed {
            CaptureLine::Refused(refusal) => Err(PodError::Refused(refusal)),
            CaptureLine::Chunk(chunk) => match chunk.raw_bytes() {
                Some(bytes) => {
                    self.started = true;
                    self.announced = Some((chunk, bytes));
                    Ok(())
                }
                None => self.accept(chunk),
            },
        }
    }

    /// What a packet says besides its samples.
    fn note(&mut self, chunk: &Chunk) {
        self.started = true;
        self.adc_rate_hz = chunk.adc_rate_hz.or(self.adc_rate_hz);
        self.la_rate_hz = chunk.la_rate_hz.or(self.la_rate_hz);
        let met = chunk.extent.map(|extent| extent.trigger_sample);
        self.trigger_sample = met.or(self.trigger_sample);
        if chunk.trigger.is_some() {
            self.trigger.clone_from(&chunk.trigger);
        }
    }

    fn accept(&mut self, chunk: Chunk) -> Result<(), PodError> {
        self.note(&chunk);
        let more = chunk.more;
        let frames = self.assembly.push(chunk).map_err(ProtocolError::Assembly)?;
        self.ready.extend(frames);
        self.finished = !more;
        Ok(())
    }
}
