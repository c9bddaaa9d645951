//! `hostd:plugin/captures`: finished captures that grant and caller have in common, to read and to decode.

use std::sync::Arc;

use admission::{Admission, Requester};
use decode::{Spec, find_channel};
use lab::captures::overview::overview;
use lab::captures::reader::{ReadError, Reader};
use plugins::interface::Interface;
use runtime::CallData;
use store::captures::{Listed, Status};
use wasmtime::component::{HasData, Resource, ResourceTable};

use super::{PluginLinker, offers, refusal};
use crate::host::waiting::Gone;
use crate::plugin::call::Acting;
use crate::plugin::sight::{self, Sight};
use offers::captures::{Channel, DecodeOrder, Decoded, Host, HostCapture};
use offers::types::Error;

mod changes;
mod found;
pub(in crate::plugin) mod shown;
mod turn;

pub(in crate::plugin) use turn::places;

/// Captures that one call may have open.
const OPEN_MAX: u32 = 16;

/// Ids of one list.
const RECENT_MAX: u32 = 200;

/// Captures that are looked at for such a list.
const LOOKED_AT_MAX: usize = 2_000;

/// Captures that are looked at together.
const PAGE: usize = 200;

/// Entries or values of one read, and annotations of one decoding.
const LIMIT_MAX: u32 = 65_536;

/// Digital channels of one read.
const CHANNELS_MAX: usize = 8;

/// Stretches of an overview.
const POINTS_MAX: u32 = 10_000;

/// Channels, options and classes of an order for a decoder, each.
const ORDER_MAX: usize = 64;

/// Bytes of a name or a value that a plugin gives: far more than those of any capture or decoder have.
const TEXT_BYTES_MAX: usize = 1 << 10;

/// A finished capture that a plugin holds open.
#[derive(Debug)]
#[expect(unreachable_pub, reason = "the generated code exports it once more")]
pub struct OpenCapture {
    reader: Arc<Reader>,
}

/// What this interface gets of a call.
pub(super) struct View<'a> {
    looking: Looking<'a>,
    table: &'a mut ResourceTable,
    open: &'a mut u32,
}

/// What it looks with.
struct Looking<'a> {
    sight: Sight<'a>,
    places: &'a Arc<Admission>,
    requester: Option<Requester>,
}

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

pub(super) fn link(linker: &mut PluginLinker) -> wasmtime::Result<()> {
    offers::captures::add_to_linker::<_, View<'static>>(linker, |state| {
        let requester = state.data.requester();
        let call = &mut state.data;
        let sight = Sight {
            acting: Acting::new(&call.facts.id, &call.rights),
            context: &call.context,
            services: &call.services,
        };
        View {
            looking: Looking {
                sight,
                places: &call.facts.reads,
                requester,
            },
            table: &mut call.table,
            open: &mut call.open_captures,
        }
    })
}

impl Host for View<'_> {
    async fn open(&mut self, id: String) -> wasmtime::Result<Result<Resource<OpenCapture>, Error>> {
        if let Err(error) = self.looking.sight.acting.interface(Interface::Captures) {
            return Ok(Err(error));
        }
        if *self.open >= OPEN_MAX {
            let sentence = format!("a call has at most {OPEN_MAX} captures open; drop one first");
            return Ok(Err(refusal("quota_exceeded", sentence)));
        }
        let reader = match self.looking.reader(&id).await {
            Ok(reader) => reader,
            Err(error) => return Ok(Err(error)),
        };
        let held = self.table.push(OpenCapture { reader })?;
        *self.open += 1;
        Ok(Ok(held))
    }

    async fn recent(
        &mut self,
        device: Option<String>,
        limit: u32,
    ) -> wasmtime::Result<Result<Vec<String>, Error>> {
        Ok(self.looking.newest(device, limit).await)
    }

    async fn decode(
        &mut self,
        id: String,
        order: DecodeOrder,
    ) -> wasmtime::Result<Result<(Vec<Decoded>, bool), Error>> {
        Ok(self.looking.annotations(&id, order).await)
    }
}

impl HostCapture for View<'_> {
    async fn id(&mut self, capture: Resource<OpenCapture>) -> wasmtime::Result<String> {
        Ok(self.table.get(&capture)?.reader.record().id.clone())
    }

    async fn json(&mut self, capture: Resource<OpenCapture>) -> wasmtime::Result<String> {
        let record = self.table.get(&capture)?.reader.record();
        Ok(shown::json(record).to_string())
    }

    async fn channels(&mut self, capture: Resource<OpenCapture>) -> wasmtime::Result<Vec<Channel>> {
        Ok(shown::channels(self.table.get(&capture)?.reader.record()))
    }

    async fn roles(
        &mut self,
        capture: Resource<OpenCapture>,
    ) -> wasmtime::Result<Vec<(String, String)>> {
        Ok(shown::roles(self.table.get(&capture)?.reader.record()))
    }

    async fn changes(
        &mut self,
        capture: Resource<OpenCapture>,
        channels: Vec<String>,
        start: u64,
        limit: u32,
    ) -> wasmtime::Result<Result<(Vec<u32>, Option<u64>), Error>> {
        let reader = self.table.get(&capture)?.reader.clone();
        let places = match digital(&reader, &channels) {
            Ok(places) => places,
            Err(error) => return Ok(Err(error)),
        };
        let limit = limit.clamp(1, LIMIT_MAX) as usize;
        let read = self.looking.read(reader, move |reader, _| {
            Ok(changes::packed(&reader.logic()?, &places, start, limit)?)
        });
        Ok(read.await)
    }

    async fn values(
        &mut self,
        capture: Resource<OpenCapture>,
        channel: String,
        start: u64,
        limit: u32,
    ) -> wasmtime::Result<Result<Vec<f32>, Error>> {
        let reader = self.table.get(&capture)?.reader.clone();
        let place = match analog(&reader, &channel) {
            Ok(place) => place,
            Err(error) => return Ok(Err(error)),
        };
        let limit = limit.clamp(1, LIMIT_MAX);
        let read = self.looking.read(reader, move |reader, _| {
            let values = reader.values(place, start, limit)?;
            Ok(values.into_iter().map(narrow).collect())
        });
        Ok(read.await)
    }

    async fn overview(
        &mut self,
        capture: Resource<OpenCapture>,
        channel: String,
        points: u32,
    ) -> wasmtime::Result<Result<Vec<(f64, f64)>, Error>> {
        let reader = self.table.get(&capture)?.reader.clone();
        let place = match named(&reader, &channel) {
            Ok(place) => place,
            Err(error) => return Ok(Err(error)),
        };
        let points = points.clamp(1, POINTS_MAX);
        let read = self.looking.read(reader, move |reader, _| {
            let all = 0..reader.record().channels[place].samples;
            let seen = overview(reader, place, &all, points)?;
            Ok(seen.min.into_iter().zip(seen.max).collect())
        });
        Ok(read.await)
    }

    async fn drop(&mut self, capture: Resource<OpenCapture>) -> wasmtime::Result<()> {
        self.table.delete(capture)?;
        *self.open = self.open.saturating_sub(1);
        Ok(())
    }
}

impl Looking<'_> {
    async fn reader(&self, id: &str) -> Result<Arc<Reader>, Error> {
        let record = self.sight.capture(id).await?;
        let read = self.sight.services.captures.read(&record.org, id).await;
        read.map_err(|error| self.sight.capture_error(id, error))
    }

    async fn read<T: Send + 'static>(
        &self,
        reader: Arc<Reader>,
        work: impl FnOnce(&Reader, &Gone) -> Result<T, ReadError> + Send + 'static,
    ) -> Result<T, Error> {
        let whose = (self.places, self.requester.as_ref());
        turn::read(&self.sight, whose, reader, work).await
    }

    async fn newest(&self, device: Option<String>, limit: u32) -> Result<Vec<String>, Error> {
        let acting = &self.sight.acting;
        acting.interface(Interface::Captures)?;
        acting.scope(sight::CAPTURES)?;
        are_short(device.as_deref())?;
        let devices: Option<Vec<String>> = match device {
            Some(which) => Some(vec![self.device(&which)?]),
            None => acting.devices().map(|ids| ids.into_iter().collect()),
        };
        let limit = limit.clamp(1, RECENT_MAX) as usize;
        let (mut ids, mut before, mut looked_at) = (Vec::new(), None, 0);
        while ids.len() < limit && looked_at < LOOKED_AT_MAX {
            let captures = &self.sight.services.captures;
            let of = Listed {
                org: acting.org(),
                devices: devices.as_deref(),
                job: None,
            };
            let page = captures.list(of, before.as_deref(), PAGE);
            let page = page
                .await
                .map_err(|error| self.sight.capture_error("", error))?;
            let done = page.iter().filter(|record| record.status == Status::Done);
            // As `open` would: what lists a capture also opens it.
            let done = done.filter(|record| self.sight.is_seen(record));
            ids.extend(done.take(limit - ids.len()).map(|record| record.id.clone()));
            looked_at += page.len();
            before = page.last().map(|record| record.id.clone());
            if page.len() < PAGE {
                break;
            }
        }
        Ok(ids)
    }

    /// The id of the device with this id or name.
    fn device(&self, which: &str) -> Result<String, Error> {
        let all = self.sight.services.devices.list(self.sight.acting.org());
        let mut ids = all.into_iter().filter_map(|device| {
            let record = device.record;
            (record.id == which || record.name == which).then_some(record.id)
        });
        let id = ids.find(|id| self.sight.acting.may_device(id));
        id.ok_or_else(|| super::devices::unknown(which))
    }

    async fn annotations(
        &self,
        id: &str,
        order: DecodeOrder,
    ) -> Result<(Vec<Decoded>, bool), Error> {
        self.sight.acting.interface(Interface::Captures)?;
        let reader = self.reader(id).await?;
        check(&order)?;
        if !reader.has_logic() {
            let sentence = "the capture has no digital channels";
            return Err(refusal("wrong_state", sentence));
        }
        let classes = (!order.classes.is_empty()).then(|| order.classes.join(","));
        let channels = order.channels.iter();
        let meant: Vec<(String, String)> = channels
            .map(|(role, channel)| (role.clone(), reader.record().meant(channel)))
            .collect();
        let spec = Spec::parse(
            &order.decoder,
            &pairs(&meant),
            &pairs(&order.options),
            classes.as_deref(),
            &reader.logic_names(),
        );
        let spec = spec.map_err(|error| refusal("invalid", format!("failed to {error}")))?;
        let range = (order.skip, order.limit.clamp(1, LIMIT_MAX) as usize);
        self.read(reader, move |reader, gone| {
            found::annotations(reader, &spec, range, gone)
        })
        .await
    }
}

fn pairs(list: &[(String, String)]) -> Vec<(&str, &str)> {
    list.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect()
}

/// Whether an order for a decoder is one that may be looked at.
fn check(order: &DecodeOrder) -> Result<(), Error> {
    let lists = [
        order.channels.len(),
        order.options.len(),
        order.classes.len(),
    ];
    if lists.into_iter().any(|len| len > ORDER_MAX) {
        let sentence = format!("an order has at most {ORDER_MAX} channels, options or classes");
        return Err(refusal("invalid", sentence));
    }
    let pairs = order.channels.iter().chain(&order.options);
    let texts = pairs.flat_map(|(name, value)| [name, value]);
    let texts = texts.chain(&order.classes).chain([&order.decoder]);
    are_short(texts.map(String::as_str))
}

/// Refuse a text that is too long to be a name or a value: it would be compared and repeated for nothing.
fn are_short<'t>(texts: impl IntoIterator<Item = &'t str>) -> Result<(), Error> {
    if texts.into_iter().all(|text| text.len() <= TEXT_BYTES_MAX) {
        return Ok(());
    }
    let sentence = format!("a name or a value has at most {TEXT_BYTES_MAX} bytes");
    Err(refusal("invalid", sentence))
}

/// Places of these channels among the digital ones.
fn digital(reader: &Reader, channels: &[String]) -> Result<Vec<usize>, Error> {
    if !(1..=CHANNELS_MAX).contains(&channels.len()) {
        let sentence = format!(
            "ask for 1 to {CHANNELS_MAX} channels, not {}",
            channels.len()
        );
        return Err(refusal("invalid", sentence));
    }
    are_short(channels.iter().map(String::as_str))?;
    let names = reader.logic_names();
    let place = |channel: &String| find_channel(&reader.record().meant(channel), &names);
    let places: Result<Vec<usize>, _> = channels.iter().map(place).collect();
    places.map_err(|error| refusal("invalid", format!("failed to {error}")))
}

/// The place of a channel among all.
fn named(reader: &Reader, channel: &str) -> Result<usize, Error> {
    are_short([channel])?;
    let channels = &reader.record().channels;
    let names: Vec<String> = channels.iter().map(|c| c.name.clone()).collect();
    let place = find_channel(&reader.record().meant(channel), &names);
    place.map_err(|error| refusal("invalid", format!("failed to {error}")))
}

fn analog(reader: &Reader, channel: &str) -> Result<usize, Error> {
    let place = named(reader, channel)?;
    if reader.record().channels[place].la.is_some() {
        let sentence = format!("{channel} is digital; ask for its changes");
        return Err(refusal("invalid", sentence));
    }
    Ok(place)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a converter has fewer bits than a f32"
)]
fn narrow(value: f64) -> f32 {
    value as f32
}

#[cfg(test)]
mod tests;
