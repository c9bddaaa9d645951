//! Progress of the answers on a connection: a client that stalls one of them is disconnected.
//!
//! Over HTTP/1.1, a client that reads nothing stops the whole connection, which
//! [`Patience`](super::patience::Patience) watches; here it only counts whether an answer is under way.
//! Over HTTP/2, flow control can stop one answer while the rest goes on. So each answer notes its last
//! progress: a part taken from its source, or bytes taken from that part into frames.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Buf, Bytes};
use http::Version;
use http_body::{Body, Frame, SizeHint};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::body::{ResponseBody, StreamCut};

/// Checks of a connection's answers within the time that one may stall.
const LOOKS: u32 = 4;

/// The answers of one connection that are under way.
#[derive(Debug)]
pub struct Flows {
    connected: Instant,
    has_asked: AtomicBool,
    /// When the last answer was complete, in milliseconds after the connection began.
    quiet_ms: AtomicU64,
    under_way: AtomicUsize,
    watched: Mutex<Watched>,
    /// Notified when there is something to look at.
    begun: Notify,
}

/// A connection with no answer under way, ordered so that the most dispensable comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rest {
    pub has_asked: bool,
    pub since: Instant,
}

#[derive(Debug, Default)]
struct Watched {
    next: u64,
    flows: HashMap<u64, Flow>,
}

#[derive(Debug)]
struct Flow {
    /// When the client last took something, or was first offered something after taking everything.
    since: Instant,
    /// Parts offered and not taken yet.
    parts: usize,
    /// Whether its source has something to offer, as far as is known.
    ready: bool,
}

/// A request that is being answered.
#[derive(Debug)]
pub struct Asked {
    answer: Answer,
    is_watched: bool,
}

/// The body of an answer that is under way.
#[derive(Debug)]
pub struct Flowing {
    body: ResponseBody,
    answer: Arc<Answer>,
}

/// A part of such a body.
#[derive(Debug)]
pub struct Part {
    bytes: Bytes,
    answer: Arc<Answer>,
    taken: bool,
}

/// One answer. It is under way until its body and all parts of that are gone.
#[derive(Debug)]
struct Answer {
    flows: Arc<Flows>,
    /// Its number among the watched ones.
    id: Option<u64>,
}

impl Default for Flows {
    fn default() -> Self {
        Self {
            connected: Instant::now(),
            has_asked: AtomicBool::default(),
            quiet_ms: AtomicU64::default(),
            under_way: AtomicUsize::default(),
            watched: Mutex::default(),
            begun: Notify::default(),
        }
    }
}

impl Flows {
    /// A request has arrived, in this version of HTTP.
    #[must_use]
    pub fn ask(self: &Arc<Self>, version: Version) -> Asked {
        self.has_asked.store(true, Ordering::Relaxed);
        self.under_way.fetch_add(1, Ordering::Relaxed);
        let flows = self.clone();
        Asked {
            answer: Answer { flows, id: None },
            is_watched: version == Version::HTTP_2,
        }
    }

    /// Whether no answer is under way.
    #[must_use]
    pub(crate) fn are_idle(&self) -> bool {
        self.under_way.load(Ordering::Relaxed) == 0
    }

    /// Since when no answer has been under way, if none is.
    #[must_use]
    pub(crate) fn resting(&self) -> Option<Rest> {
        let quiet = Duration::from_millis(self.quiet_ms.load(Ordering::Relaxed));
        self.are_idle().then(|| Rest {
            has_asked: self.has_asked.load(Ordering::Relaxed),
            since: self.connected + quiet,
        })
    }

    /// Resolves when an answer has stalled for `wait` because the client takes none of it.
    pub async fn stalled(&self, wait: Duration) {
        loop {
            let (any, since) = {
                let all = self.lock();
                let offered = all.flows.values().filter_map(Flow::offered);
                (!all.flows.is_empty(), offered.min())
            };
            if since.is_some_and(|since| since.elapsed() >= wait) {
                return;
            }
            if any {
                tokio::time::sleep(wait / LOOKS).await;
            } else {
                self.begun.notified().await;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Watched> {
        // Each change leaves it consistent, so a panic elsewhere does too.
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Asked {
    /// The answer is ready; from now on `body` is being sent.
    #[must_use]
    pub fn answer(self, body: ResponseBody) -> Flowing {
        let mut answer = self.answer;
        if self.is_watched {
            answer.watch();
        }
        let answer = Arc::new(answer);
        Flowing { body, answer }
    }
}

impl Flow {
    /// Since when the client has been offered something.
    fn offered(&self) -> Option<Instant> {
        (self.parts > 0 || self.ready).then_some(self.since)
    }
}

impl Answer {
    fn watch(&mut self) {
        let mut watched = self.flows.lock();
        let id = watched.next;
        watched.next += 1;
        let flow = Flow {
            since: Instant::now(),
            parts: 0,
            ready: true,
        };
        watched.flows.insert(id, flow);
        drop(watched);
        self.id = Some(id);
        self.flows.begun.notify_one();
    }

    /// Note its progress, if it is watched.
    fn note(&self, change: impl FnOnce(&mut Flow)) {
        let Some(id) = self.id else {
            return;
        };
        if let Some(flow) = self.flows.lock().flows.get_mut(&id) {
            change(flow);
        }
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            self.flows.lock().flows.remove(&id);
        }
        let connected = self.flows.connected.elapsed().as_millis();
        let quiet_ms = u64::try_from(connected).unwrap_or(u64::MAX);
        self.flows.quiet_ms.store(quiet_ms, Ordering::Relaxed);
        self.flows.under_way.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Body for Flowing {
    type Data = Part;
    type Error = StreamCut;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Part>, StreamCut>>> {
        let Self { body, answer } = self.get_mut();
        let polled = Pin::new(body).poll_frame(cx);
        let (ready, part) = match &polled {
            Poll::Pending => (false, false),
            Poll::Ready(next) => (true, matches!(next, Some(Ok(frame)) if frame.is_data())),
        };
        answer.note(|flow| {
            if ready {
                flow.since = Instant::now();
            }
            flow.ready = ready;
            flow.parts += usize::from(part);
        });
        polled.map_ok(|frame| {
            frame.map_data(|bytes| Part {
                bytes,
                answer: answer.clone(),
                taken: false,
            })
        })
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Flowing {
    fn drop(&mut self) {
        self.answer.note(|flow| flow.ready = false);
    }
}

impl Buf for Part {
    fn remaining(&self) -> usize {
        self.bytes.remaining()
    }

    fn chunk(&self) -> &[u8] {
        self.bytes.chunk()
    }

    fn advance(&mut self, count: usize) {
        self.bytes.advance(count);
        let all = !self.bytes.has_remaining() && !self.taken;
        self.taken |= all;
        self.answer.note(|flow| {
            flow.since = Instant::now();
            flow.parts -= usize::from(all);
        });
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if !self.taken {
            self.answer.note(|flow| flow.parts -= 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use tokio::time::timeout;

    use super::*;

    const WAIT: Duration = Duration::from_secs(60);

    async fn next(body: &mut Flowing) -> Option<Part> {
        let frame = poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await;
        frame.map(|frame| frame.unwrap().into_data().unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_nobody_takes_is_noticed() {
        let flows = Arc::new(Flows::default());
        assert!(timeout(WAIT * 9, flows.stalled(WAIT)).await.is_err());
        let asked = flows.ask(Version::HTTP_2);
        assert!(!flows.are_idle());
        // A handler that takes its time is not the client's fault.
        assert!(timeout(WAIT * 9, flows.stalled(WAIT)).await.is_err());
        let mut body = asked.answer(ResponseBody::full("abcd"));
        timeout(WAIT * 2, flows.stalled(WAIT)).await.unwrap();
        let mut part = next(&mut body).await.unwrap();
        assert!(next(&mut body).await.is_none());
        drop(body);
        for _ in 0..3 {
            // Each byte restarts its time.
            assert!(timeout(WAIT / 2, flows.stalled(WAIT)).await.is_err());
            part.advance(1);
        }
        timeout(WAIT * 2, flows.stalled(WAIT)).await.unwrap();
        part.advance(1);
        assert!(timeout(WAIT * 9, flows.stalled(WAIT)).await.is_err());
        drop(part);
        assert!(flows.are_idle());
        assert!(timeout(WAIT * 9, flows.stalled(WAIT)).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn what_stops_the_whole_connection_is_only_counted() {
        let flows = Arc::new(Flows::default());
        let mut body = flows
            .ask(Version::HTTP_11)
            .answer(ResponseBody::full("abcd"));
        let part = next(&mut body).await.unwrap();
        drop(body);
        assert!(timeout(WAIT * 9, flows.stalled(WAIT)).await.is_err());
        assert!(!flows.are_idle());
        drop(part);
        assert!(flows.are_idle());
    }

    #[tokio::test(start_paused = true)]
    async fn a_source_that_has_nothing_is_waited_for() {
        let (parts, receiver) = tokio::sync::mpsc::channel(1);
        let flows = Arc::new(Flows::default());
        let stream = runtime::BodyStream::new(None, receiver);
        let mut body = flows
            .ask(Version::HTTP_2)
            .answer(ResponseBody::Stream(stream));
        assert!(timeout(WAIT / 9, next(&mut body)).await.is_err());
        assert!(timeout(WAIT * 9, flows.stalled(WAIT)).await.is_err());
        parts.send(Ok(Bytes::from_static(b"x"))).await.unwrap();
        let part = next(&mut body).await.unwrap();
        timeout(WAIT * 2, flows.stalled(WAIT)).await.unwrap();
        drop((part, body));
        assert!(flows.are_idle());
    }
}
