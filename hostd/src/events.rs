//! What happens in an organisation, for those who follow it over HTTP: places for streams, and the stream itself as
//! server-sent events (<https://html.spec.whatwg.org/multipage/server-sent-events.html>).
//!
//! Events are in [`Recent`], once for all; a stream is a place there and what its client has not taken yet.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use admission::{Admission, Crowded, Limits, OwnedPermit, Requester};
use bytes::Bytes;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep, sleep_until};

use base::news::News;
use base::news::recent::{Begin, Event, Follower, Next, Recent};
use identity::Verified;
use identity::scope::Scope;

/// Parts of a stream that its client has not taken, and their size in bytes. Not more is in memory for one stream.
const PARTS_MAX: usize = 2;
const PART_BYTES_MAX: usize = 32 << 10;

/// Something is sent at least this often, so that proxies keep the connection and the server notices who has left.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// What a browser waits before it connects again, in milliseconds.
const RETRY_MS: u32 = 1_000;

/// One user has this part of all places at most, so that a program that forgets its streams leaves room for others.
const OF_USER: u32 = 4;

/// All streams of events.
#[derive(Debug)]
pub struct Events {
    recent: Recent,
    places: Arc<Admission>,
    stopping: watch::Sender<bool>,
}

/// Who may see which events.
#[derive(Debug)]
struct Sight {
    caller: Verified,
    sees_jobs: bool,
}

/// Resolves to the reason when the credential is no longer valid.
pub type Over = Pin<Box<dyn Future<Output = &'static str> + Send>>;

/// What a stream is asked to be.
#[derive(Debug, Default)]
pub struct Asked {
    /// The place to go on from.
    pub after: Option<String>,
    /// How long it lasts; none = as long as it may.
    pub lasts: Option<Duration>,
}

impl Events {
    /// With places for `streams_max`, for what is told by `news`.
    #[must_use]
    pub fn new(news: &News, streams_max: u32) -> Self {
        let recent = Recent::default();
        let kept = recent.clone();
        news.listen(move |happening| kept.keep(happening));
        let limits = Limits {
            permits_max: streams_max,
            per_user_max: streams_max.div_ceil(OF_USER),
            per_org_max: streams_max,
            queued_max: 0,
            wait_max: Duration::ZERO,
        };
        Self {
            recent,
            places: Arc::new(Admission::new(limits)),
            stopping: watch::Sender::new(false),
        }
    }

    /// A stream for a caller until `over`, in parts as they are read.
    ///
    /// # Errors
    /// Whose share of the places is taken.
    pub fn stream(
        &self,
        caller: &Verified,
        requester: &Requester,
        asked: Asked,
        over: Over,
    ) -> Result<mpsc::Receiver<io::Result<Bytes>>, Crowded> {
        let place = self.places.try_enter_owned(Some(requester))?;
        let (follower, begin) = self.recent.follow(caller.org(), asked.after.as_deref());
        let (parts, receiver) = mpsc::channel(PARTS_MAX);
        let stream = Stream {
            follower,
            sight: Sight::of(caller),
            parts,
            sent: Instant::now(),
            said: None,
            _place: place,
        };
        let stopping = self.stopping.subscribe();
        tokio::spawn(stream.run(begin, asked.lasts, stopping, over));
        Ok(receiver)
    }

    /// End all streams, and those that come.
    pub fn stop(&self) {
        self.stopping.send_replace(true);
    }
}

impl Sight {
    fn of(caller: &Verified) -> Self {
        Self {
            sees_jobs: caller.has_scope(Scope::JobsSubmit.as_str()),
            caller: caller.clone(),
        }
    }

    /// Whether the caller may see an event of its organisation. What is of no device is for those who may use all.
    fn sees(&self, event: &Event) -> bool {
        let devices = &event.devices;
        let is_within = self.caller.devices().is_none()
            || !devices.is_empty() && devices.iter().all(|id| self.caller.may_use_id(id));
        (!event.kind.is_job() || self.sees_jobs) && is_within
    }
}

/// One stream, on a task of its own.
struct Stream {
    follower: Follower,
    sight: Sight,
    parts: mpsc::Sender<io::Result<Bytes>>,
    /// When the last part was handed over.
    sent: Instant,
    /// The last place that the client was given.
    said: Option<String>,
    _place: OwnedPermit,
}

/// Why a stream ends.
enum End {
    /// The client has left.
    Gone,
    /// It has what it asked for, or the server stops.
    Done,
    /// The credential is no longer valid, for this reason.
    Over(&'static str),
}

impl Stream {
    async fn run(
        mut self,
        begin: Begin,
        lasts: Option<Duration>,
        mut stopping: watch::Receiver<bool>,
        over: Over,
    ) {
        let parts = self.parts.clone();
        let until = lasts.map(|lasts| Instant::now() + lasts);
        let end = tokio::select! {
            biased;
            code = over => End::Over(code),
            // An error means that the server is already gone.
            _ = stopping.wait_for(|stop| *stop) => End::Done,
            () = parts.closed() => End::Gone,
            end = self.serve(begin, until) => end,
        };
        if let End::Over(code) = end {
            let last = format!("event: end\ndata: {{\"code\":\"{code}\"}}\n\n");
            // A client that takes nothing learns it when it connects again.
            let _ = parts.try_send(Ok(last.into()));
        }
    }

    async fn serve(&mut self, begin: Begin, until: Option<Instant>) -> End {
        let first = match begin {
            Begin::Now => self.place_event("ready"),
            Begin::Lost => self.place_event("reset"),
            Begin::Resumed => String::new(),
        };
        let mut part = format!("retry: {RETRY_MS}\n{first}");
        if first.is_empty() {
            part.push('\n');
        }
        loop {
            let has_more = self.fill(&mut part);
            if !part.is_empty() && !self.send(&mut part).await {
                return End::Gone;
            }
            if has_more {
                continue;
            }
            let ends = async {
                match until {
                    Some(until) => sleep_until(until).await,
                    None => std::future::pending().await,
                }
            };
            let since = self.sent.elapsed();
            tokio::select! {
                () = self.follower.changed() => {}
                () = sleep(HEARTBEAT.saturating_sub(since)) => part = self.heartbeat(),
                () = ends => return End::Done,
            }
        }
    }

    /// Adds what the client may see of what is there, as far as a part goes. Whether there is more.
    fn fill(&mut self, part: &mut String) -> bool {
        while part.len() < PART_BYTES_MAX {
            match self.follower.take() {
                Next::Nothing => return false,
                Next::Lost => {
                    let reset = self.place_event("reset");
                    part.push_str(&reset);
                }
                Next::Event(event) if self.sight.sees(&event) => {
                    let place = self.place();
                    let kind = event.kind.as_str();
                    let lines = format!("id: {place}\nevent: {kind}\ndata: {}\n\n", event.json);
                    part.push_str(&lines);
                }
                Next::Event(_) => {}
            }
        }
        true
    }

    async fn send(&mut self, part: &mut String) -> bool {
        let part = Bytes::from(std::mem::take(part));
        let sent = self.parts.send(Ok(part)).await;
        self.sent = Instant::now();
        sent.is_ok()
    }

    /// An event without details, at the client's place.
    fn place_event(&mut self, name: &str) -> String {
        format!("id: {}\nevent: {name}\ndata: {{}}\n\n", self.place())
    }

    /// A comment; and where the client is, if it has not seen what happened since: that may be pushed out.
    fn heartbeat(&mut self) -> String {
        let place = self.follower.place().to_string();
        if self.said.as_ref() == Some(&place) {
            return ":\n\n".to_owned();
        }
        format!(":\nid: {}\n\n", self.place())
    }

    fn place(&mut self) -> String {
        let place = self.follower.place().to_string();
        self.said = Some(place.clone());
        place
    }
}

#[cfg(test)]
mod tests;
