//! `hostd:host/searches`: search in captures.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ::search::{Ended, Hit, Known, Query, QueryError, Search, SearchError};
use admission::Requester;
use decode::gaps::Gaps;
use runtime::BodyStream;
use tokio::sync::{mpsc, oneshot};
use wasmtime::component::{HasData, Resource, ResourceTable};

use super::bindings::hostd::host::searches::{Error, Found, Hit as WitHit, Host, Many, WithHits};
use super::captures::{to_wit, wanted};
use super::decode::PARTS_WAITING_MAX;
use super::door::Door;
use super::recordings::{range, refusal};
use super::waiting::{Gone, in_place};
use super::{CallLinker, Context, internal, wit};
use lab::captures::reader::{ReadError, Reader};
use lab::captures::{CaptureError as Failure, Captures};
use lines::Lines;
use store::captures::{CaptureRecord, Status};

mod lines;

/// Most places of one answer.
const HITS_MAX: u32 = 10_000;

/// Most captures that one call looks at, and most places of each.
const CAPTURES_MAX: u32 = 100;
const HITS_OF_EACH_MAX: u32 = 1000;

/// How long one call looks through several captures before it says where to go on.
const MANY_WAIT_MAX: Duration = Duration::from_secs(10);

/// What this interface gets of a call.
pub(super) struct View<'a> {
    table: &'a mut ResourceTable,
    reach: Reach<'a>,
}

/// The captures, as far as the caller may see them.
#[derive(Clone, Copy)]
struct Reach<'a> {
    context: &'a Context,
    requester: Option<&'a Requester>,
    door: Door<'a>,
    captures: &'a Arc<Captures>,
}

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

pub(super) fn link(linker: &mut CallLinker) -> wasmtime::Result<()> {
    wit::searches::add_to_linker::<_, View<'static>>(linker, |state| View {
        table: &mut state.data.table,
        reach: Reach {
            context: &state.data.context,
            requester: state.data.requester.as_ref(),
            door: Door::new(&state.data.context, &state.data.services),
            captures: &state.data.services.captures,
        },
    })
}

impl Host for View<'_> {
    async fn find(
        &mut self,
        capture: String,
        query: String,
        first: Option<u64>,
        end: Option<u64>,
        skip: u64,
        limit: u32,
    ) -> Result<Found, Error> {
        let reach = self.reach;
        let query = parsed(&query)?;
        let (reader, search, range) = reach.open(&capture, &query, (first, end)).await?;
        let limit = limit.clamp(1, HITS_MAX) as usize;
        let work =
            move |gone: &Gone| some(&reader, &search, range, (skip, limit), &|| !gone.is_gone());
        let done = in_place(reach.captures, reach.requester, work).await;
        let done = done.map_err(|error| reach.failed(error))?;
        let found = done.map_err(|error| reach.broken(&error))?;
        let Places {
            hits,
            ended,
            rate_hz,
        } = found.map_err(|error| reach.not_found(error))?;
        let next = match ended {
            Ended::Whole => None,
            Ended::Enough | Ended::Cancelled => Some(skip + hits.len() as u64),
        };
        Ok(Found {
            sample_rate_hz: rate_hz,
            hits: hits.into_iter().map(hit).collect(),
            next,
        })
    }

    async fn lines(
        &mut self,
        capture: String,
        query: String,
        first: Option<u64>,
        end: Option<u64>,
        limit: Option<u32>,
    ) -> Result<Resource<BodyStream>, Error> {
        let reach = self.reach;
        let query = parsed(&query)?;
        let (reader, search, range) = reach.open(&capture, &query, (first, end)).await?;
        // One more for the error that ends a stream early: it must not wait behind the parts.
        let (parts, receiver) = mpsc::channel(PARTS_WAITING_MAX + 1);
        let permit = reach.captures.stream_permit(reach.requester).await;
        let permit = permit.map_err(|error| reach.failed(error))?;
        let (begin, begun) = oneshot::channel();
        tokio::task::spawn_blocking(move || {
            let lines = Lines::new(parts, limit);
            lines.send(&reader, &search, range, begin);
            drop(permit);
        });
        match begun.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(reach.not_found(error)),
            Err(error) => return Err(reach.broken(&error)),
        }
        let stream = BodyStream::new(Some("application/x-ndjson".to_owned()), receiver);
        let pushed = self.table.push(stream);
        pushed.map_err(|error| reach.broken(&error))
    }

    async fn find_in_many(
        &mut self,
        query: String,
        device: Option<String>,
        job: Option<String>,
        cursor: Option<String>,
        limit: u32,
        hits: u32,
    ) -> Result<Many, Error> {
        let reach = self.reach;
        let query = parsed(&query)?;
        let limit = limit.clamp(1, CAPTURES_MAX) as usize;
        let most = hits.clamp(1, HITS_OF_EACH_MAX) as usize;
        let asked = (device, job, cursor);
        let listed = wanted(reach.context, reach.door, reach.captures, asked, limit).await;
        let listed = listed.map_err(refusal)?;
        let is_page_full = listed.len() == limit;
        let last = listed.last().map(|record| record.id.clone());
        let over = Instant::now() + MANY_WAIT_MAX;
        let mut many = Many {
            items: Vec::new(),
            searched: 0,
            skipped: 0,
            next: last.filter(|_| is_page_full),
        };
        let mut before = None;
        for record in listed {
            let found = match reach.find_in_one(&record, &query, most, over).await {
                // There is no place now: what was found before is not thrown away.
                Err(Error::WrongState(_)) if before.is_some() => {
                    many.next = before;
                    break;
                }
                found => found?,
            };
            before = Some(record.id.clone());
            match found {
                None => many.skipped += 1,
                Some(found) => {
                    many.searched += 1;
                    let more = found.ended != Ended::Whole;
                    if more || !found.hits.is_empty() {
                        many.items.push(WithHits {
                            capture: to_wit(&record),
                            hits: found.hits.into_iter().map(hit).collect(),
                            more,
                        });
                    }
                }
            }
            if over <= Instant::now() {
                many.next = Some(record.id);
                break;
            }
        }
        Ok(many)
    }
}

/// What was found, how the search ended, and the sample rate.
struct Places {
    hits: Vec<Hit>,
    ended: Ended,
    rate_hz: f64,
}

/// Why nothing is found.
enum NotFound {
    Read(ReadError),
    Search(SearchError),
}

/// At most `limit` places, without the first ones. A search for a later page begins where that for the first one did: inside
/// of a transfer, a decoder would not know where it is.
fn some(
    reader: &Reader,
    search: &Search,
    range: Range<u64>,
    (mut skip, limit): (u64, usize),
    go_on: &(dyn Fn() -> bool + Sync),
) -> Result<Places, NotFound> {
    let segment = reader.logic().map_err(NotFound::Read)?;
    let mut hits = Vec::new();
    let ended = search.run(&segment, range, go_on, &mut |hit| {
        if skip > 0 {
            skip -= 1;
            return ControlFlow::Continue(());
        }
        hits.push(hit);
        match hits.len() == limit {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    Ok(Places {
        ended: ended.map_err(NotFound::Search)?,
        hits,
        rate_hz: segment.sample_rate_hz(),
    })
}

impl Reach<'_> {
    /// A capture that the caller may see, the search in it, and the samples to look at.
    async fn open(
        self,
        capture: &str,
        query: &Query,
        (first, end): (Option<u64>, Option<u64>),
    ) -> Result<(Arc<Reader>, Search, Range<u64>), Error> {
        let reader = self.door.reader(self.captures, capture).await;
        let reader = reader.map_err(refusal)?;
        let Some(samples) = samples(reader.record()) else {
            let sentence = "the capture has no logic channels".to_owned();
            return Err(Error::WrongState(sentence));
        };
        let search = bound(query, &reader).map_err(|error| self.not_found(error.into()))?;
        let range = match (first, end) {
            (None | Some(0), None) => 0..samples,
            _ => range(first, end, samples)?,
        };
        Ok((reader, search, range))
    }

    /// None if the capture lacks what the query needs.
    async fn find_in_one(
        self,
        record: &CaptureRecord,
        query: &Query,
        limit: usize,
        over: Instant,
    ) -> Result<Option<Places>, Error> {
        let Some(samples) = samples(record).filter(|_| record.status == Status::Done) else {
            return Ok(None);
        };
        let reader = match self.captures.read(&record.org, &record.id).await {
            Ok(reader) => reader,
            // It was deleted meanwhile, or cannot be read, which is logged: the others can.
            Err(Failure::NotFound) => return Ok(None),
            Err(error @ Failure::Samples(_)) => {
                self.failed(error);
                return Ok(None);
            }
            Err(error) => return Err(self.failed(error)),
        };
        let Ok(search) = bound(query, &reader) else {
            return Ok(None);
        };
        let work = move |gone: &Gone| {
            let go_on = || !gone.is_gone() && Instant::now() < over;
            some(&reader, &search, 0..samples, (0, limit), &go_on)
        };
        let done = in_place(self.captures, self.requester, work).await;
        let done = done.map_err(|error| self.failed(error))?;
        match done.map_err(|error| self.broken(&error))? {
            Ok(found) => Ok(Some(found)),
            Err(NotFound::Search(error)) if error.is_of_capture() => Ok(None),
            Err(error @ (NotFound::Read(_) | NotFound::Search(SearchError::Damaged(_)))) => {
                self.not_found(error);
                Ok(None)
            }
            Err(error) => Err(self.not_found(error)),
        }
    }

    fn not_found(self, error: NotFound) -> Error {
        match error {
            NotFound::Read(error) => self.failed(error.into()),
            NotFound::Search(SearchError::Damaged(error)) => {
                self.failed(ReadError::Logic(error).into())
            }
            NotFound::Search(error) if error.is_of_capture() => {
                Error::Invalid(("q".to_owned(), format!("cannot be used: failed to {error}")))
            }
            NotFound::Search(error) => Error::Other(internal(self.context, "searches", &error)),
        }
    }

    fn failed(self, error: Failure) -> Error {
        refusal(self.context.capture_error(error))
    }

    fn broken(self, error: &(dyn std::error::Error + 'static)) -> Error {
        Error::Other(internal(self.context, "searches", error))
    }
}

impl From<SearchError> for NotFound {
    fn from(error: SearchError) -> Self {
        Self::Search(error)
    }
}

fn parsed(text: &str) -> Result<Query, Error> {
    Query::parse(text).map_err(|QueryError { at, what }| {
        let rule = format!("is no query: at character {at}, {what}");
        Error::Invalid(("q".to_owned(), rule))
    })
}

/// The query for the channels of a capture, which knows the lines of its own bus.
fn bound(query: &Query, reader: &Reader) -> Result<Search, SearchError> {
    let i2c = reader.record().i2c;
    let lines = i2c.map(|(scl, sda)| (format!("LA{scl}"), format!("LA{sda}")));
    let lines = lines.as_ref();
    let record = reader.record();
    let labels = record.marks.labels.iter();
    let labels = labels.filter_map(|(channel, label)| {
        let channel = record.channels.get(*channel as usize)?;
        Some((label.as_str(), channel.name.as_str()))
    });
    let known = Known {
        labels: labels.collect(),
        i2c: lines.map(|(scl, sda)| (scl.as_str(), sda.as_str())),
    };
    let search = query.bind(&reader.logic_names(), &known)?;
    Ok(search.apart_from(Gaps::new(record.gaps.iter().copied())))
}

/// Samples of a capture's logic channels; none if it has none of those.
fn samples(record: &CaptureRecord) -> Option<u64> {
    let mut logic = record
        .channels
        .iter()
        .filter(|channel| channel.la.is_some());
    logic.next().map(|channel| channel.samples)
}

fn hit(hit: Hit) -> WitHit {
    WitHit {
        first: hit.from,
        end: hit.to,
        text: hit.text,
    }
}
