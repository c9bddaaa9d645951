//! `hostd:host/measures`: tiles, edges and measurements of captures.

use std::ops::Range;
use std::sync::Arc;

use admission::Requester;
use decode::segment::SAMPLES_MAX;
use wasmtime::component::HasData;

use super::bindings::hostd::host::measures::{
    Analog, Digital, Direction as WitDirection, Edge as WitEdge, Error, Host, Lane, Measured, Peak,
    Spectrum, Stats, Subject, Window as WitWindow,
};
use super::door::Door;
use super::recordings::{channel, range, refusal};
use super::waiting::{Gone, in_place};
use super::{CallLinker, Context, internal, wit};
use lab::captures::edges::{self, Direction, Edge};
use lab::captures::meter::{self, POINTS_MAX, Window};
use lab::captures::reader::{ReadError, Reader};
use lab::captures::tiles::{self, tiles};
use lab::captures::{CaptureError as Failure, Captures};
use store::captures::{CaptureRecord, ChannelRecord};

/// Most stretches of one call.
const STRETCHES_MAX: u32 = 8192;

/// Samples of the widest stretch, as a power of two: the longest capture.
const LEVEL_MAX: u32 = SAMPLES_MAX.ilog2();

/// What this interface gets of a call.
pub(super) struct View<'a> {
    context: &'a Context,
    requester: Option<&'a Requester>,
    door: Door<'a>,
    captures: &'a Arc<Captures>,
}

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

pub(super) fn link(linker: &mut CallLinker) -> wasmtime::Result<()> {
    wit::measures::add_to_linker::<_, View<'static>>(linker, |state| View {
        context: &state.data.context,
        requester: state.data.requester.as_ref(),
        door: Door::new(&state.data.context, &state.data.services),
        captures: &state.data.services.captures,
    })
}

impl Host for View<'_> {
    async fn tiles(
        &mut self,
        capture: String,
        channels: Option<String>,
        level: u8,
        first: u64,
        count: u32,
    ) -> Result<Vec<Lane>, Error> {
        let record = self.record(&capture).await?;
        let channels = match channels {
            Some(names) => self::channels(&record, &names)?,
            None => (0..record.channels.len()).collect(),
        };
        let level = u32::from(level).min(LEVEL_MAX);
        let stretches = first..first.saturating_add(count.min(STRETCHES_MAX).into());
        let asked = channels.clone();
        let look = move |reader: &Reader| tiles(reader, &asked, level, &stretches);
        let looked = self.captures.look(&record.org, &capture, look).await;
        let lanes = looked.map_err(|error| self.failed(error))?;
        Ok(channels.into_iter().zip(lanes).map(lane).collect())
    }

    async fn measure(
        &mut self,
        capture: String,
        channel: String,
        first: Option<u64>,
        end: Option<u64>,
    ) -> Result<(Subject, Measured), Error> {
        let record = self.record(&capture).await?;
        let asked = Asked::of(&record, &channel, first, end)?;
        let (channel, range) = (asked.channel, asked.range.clone());
        let work = move |reader: &Reader, go_on: &mut dyn FnMut() -> bool| {
            meter::measured(reader, channel, range, go_on)
        };
        let reader = self.read(&record).await?;
        let measured = self.long(reader, work).await?;
        Ok((asked.subject(&record), to_measured(measured)))
    }

    async fn spectrum_of(
        &mut self,
        capture: String,
        channel: String,
        first: Option<u64>,
        end: Option<u64>,
        window: WitWindow,
        points: u32,
    ) -> Result<(Subject, Spectrum), Error> {
        let record = self.record(&capture).await?;
        let asked = Asked::of(&record, &channel, first, end)?;
        let reader = self.read(&record).await?;
        let (channel, range) = (asked.channel, asked.range.clone());
        if record.channels[channel].la.is_some() {
            return Err(wrong("channel", "must be an analog channel"));
        }
        let points = usize::try_from(points).unwrap_or(POINTS_MAX);
        let shape = (to_window(window), points.clamp(1, POINTS_MAX));
        let work = move |reader: &Reader, go_on: &mut dyn FnMut() -> bool| {
            meter::spectrum(reader, channel, range, shape, go_on)
        };
        let found = self.long(reader, work).await?;
        Ok((asked.subject(&record), to_spectrum(found)))
    }

    async fn find_edge(
        &mut self,
        capture: String,
        channel: String,
        at: u64,
        direction: WitDirection,
        edge: WitEdge,
    ) -> Result<(Subject, Option<u64>), Error> {
        let record = self.record(&capture).await?;
        let asked = Asked::of(&record, &channel, None, None)?;
        let reader = self.read(&record).await?;
        let channel = asked.channel;
        if record.channels[channel].la.is_none() {
            return Err(wrong("channel", "must be a digital channel"));
        }
        let direction = match direction {
            WitDirection::Next => Direction::Next,
            WitDirection::Previous => Direction::Previous,
        };
        let edge = match edge {
            WitEdge::Rising => Edge::Rising,
            WitEdge::Falling => Edge::Falling,
            WitEdge::Either => Edge::Either,
        };
        let permit = self.captures.reader_permit().await;
        let found = tokio::task::spawn_blocking(move || {
            let found = edges::find(&reader, channel, at, direction, edge);
            drop(permit);
            found
        });
        let found = found.await.map_err(|error| self.broken(&error))?;
        let found = found.map_err(|error| self.failed(error.into()))?;
        Ok((asked.subject(&record), found))
    }
}

impl View<'_> {
    /// The record of a capture that the caller may see.
    async fn record(&self, capture: &str) -> Result<CaptureRecord, Error> {
        let found = self.door.capture(self.captures, capture).await;
        found.map_err(refusal)
    }

    async fn read(&self, record: &CaptureRecord) -> Result<Arc<Reader>, Error> {
        let read = self.captures.read(&record.org, &record.id).await;
        read.map_err(|error| self.failed(error))
    }

    /// Work that may take seconds: in one of the places of those who are sent whole captures, and ended with the request.
    async fn long<T: Send + 'static>(
        &self,
        reader: Arc<Reader>,
        work: impl FnOnce(&Reader, &mut dyn FnMut() -> bool) -> Result<Option<T>, ReadError>
        + Send
        + 'static,
    ) -> Result<T, Error> {
        let work = move |gone: &Gone| work(&reader, &mut || !gone.is_gone());
        let done = in_place(self.captures, self.requester, work).await;
        let done = done.map_err(|error| self.failed(error))?;
        let done = done.map_err(|error| self.broken(&error))?;
        let done = done.map_err(|error| self.failed(error.into()))?;
        done.ok_or_else(|| Error::Other("the measurement was ended".to_owned()))
    }

    fn failed(&self, error: Failure) -> Error {
        refusal(self.context.capture_error(error))
    }

    fn broken(&self, error: &tokio::task::JoinError) -> Error {
        Error::Other(internal(self.context, "measures", error))
    }
}

/// A channel and a range of its samples, as they were asked for.
struct Asked {
    channel: usize,
    range: Range<u64>,
}

impl Asked {
    fn of(
        record: &CaptureRecord,
        channel: &str,
        first: Option<u64>,
        end: Option<u64>,
    ) -> Result<Self, Error> {
        let channel = super::recordings::channel("channel", record, channel)?;
        let samples = record.channels[channel].samples;
        let range = match (first, end) {
            (None, None) => 0..samples,
            _ => range(first, end, samples)?,
        };
        Ok(Self { channel, range })
    }

    fn subject(&self, record: &CaptureRecord) -> Subject {
        let ChannelRecord {
            name,
            unit,
            sample_rate_hz,
            ..
        } = record.channels[self.channel].clone();
        Subject {
            channel: number(self.channel),
            name,
            unit,
            sample_rate_hz,
            first: self.range.start,
            end: self.range.end,
        }
    }
}

fn wrong(field: &str, rule: &str) -> Error {
    Error::Invalid((field.to_owned(), rule.to_owned()))
}

/// Indices of the channels that a text with commas refers to; a comma between double quotes belongs to a name.
fn channels(record: &CaptureRecord, text: &str) -> Result<Vec<usize>, Error> {
    let mut is_quoted = false;
    let names = text.split(|c| {
        is_quoted ^= c == '"';
        c == ',' && !is_quoted
    });
    let mut found = Vec::new();
    for name in names {
        let index = channel("channels", record, name)?;
        if found.contains(&index) {
            return Err(wrong("channels", "must have each channel once"));
        }
        found.push(index);
    }
    Ok(found)
}

fn lane((channel, lane): (usize, tiles::Lane)) -> Lane {
    let channel = number(channel);
    match lane {
        tiles::Lane::Digital(states) => Lane {
            channel,
            states,
            min: Vec::new(),
            max: Vec::new(),
        },
        tiles::Lane::Analog { min, max } => Lane {
            channel,
            states: Vec::new(),
            min,
            max,
        },
    }
}

fn number(channel: usize) -> u32 {
    u32::try_from(channel).expect("a capture has few channels")
}

fn to_measured(measured: meter::Measured) -> Measured {
    match measured {
        meter::Measured::Digital(found) => Measured::Digital(Digital {
            rising: found.rising,
            falling: found.falling,
            high_samples: found.high_samples,
            frequency_hz: found.frequency_hz,
            duty: found.duty,
            period: found.period.map(to_stats),
            high: found.high.map(to_stats),
            low: found.low.map(to_stats),
        }),
        meter::Measured::Analog(found) => Measured::Analog(Analog {
            min: found.min,
            max: found.max,
            peak_to_peak: found.peak_to_peak,
            mean: found.mean,
            rms: found.rms,
            deviation: found.deviation,
            top: found.top,
            base: found.base,
            frequency_hz: found.frequency_hz,
            rise: found.rise.map(to_stats),
            fall: found.fall.map(to_stats),
            overshoot: found.overshoot,
            undershoot: found.undershoot,
        }),
    }
}

fn to_stats(stats: meter::Stats) -> Stats {
    Stats {
        count: stats.count,
        min: stats.min,
        max: stats.max,
        mean: stats.mean,
        p50: stats.p50,
        p99: stats.p99,
    }
}

fn to_spectrum(found: meter::Spectrum) -> Spectrum {
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let peaks = found.peaks.into_iter().map(|peak| Peak {
        frequency_hz: peak.frequency_hz,
        amplitude: peak.amplitude,
    });
    Spectrum {
        length: count(found.length),
        averages: count(found.averages),
        step_hz: found.step_hz,
        resolution_hz: found.resolution_hz,
        amplitudes: found.amplitudes,
        peaks: peaks.collect(),
    }
}

fn to_window(window: WitWindow) -> Window {
    match window {
        WitWindow::Rectangular => Window::Rectangular,
        WitWindow::Hann => Window::Hann,
        WitWindow::Hamming => Window::Hamming,
        WitWindow::BlackmanHarris => Window::BlackmanHarris,
        WitWindow::Flattop => Window::FlatTop,
    }
}
