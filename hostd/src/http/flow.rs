//! How answers get on that share a connection: a client that lets one of them stand still has to go.
//!
//! Over HTTP/1.1 a client that takes nothing stops the connection, which is watched by
//! [`Patience`](super::patience::Patience). Over HTTP/2 it can stop one answer by flow control while the
//! rest goes on. So each answer notes when it last got on: a part taken from its source, or bytes taken
//! from that part into frames.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Buf, Bytes};
use http_body::{Body, Frame, SizeHint};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::body::{ResponseBody, StreamCut};

/// Looks at the answers of a connection within the time that one may stand still.
const LOOKS: u32 = 4;

/// The answers of one connection that are under way.
#[derive(Debug, Default)]
pub struct Flows {
    all: Mutex<Numbered>,
    /// Told when there is something to look at.
    begun: Notify,
}

#[derive(Debug, Default)]
struct Numbered {
    next: u64,
    /// Requests that are being answered and have no body yet.
    asked: usize,
    flows: HashMap<u64, Flow>,
}

#[derive(Debug)]
struct Flow {
    /// When the client last took something, or was offered something after all was taken.
    since: Instant,
    /// Parts that were offered and not taken yet.
    parts: usize,
    /// Whether its source has something to offer, as far as is known.
    ready: bool,
    over: bool,
}

/// A request that is being answered.
#[derive(Debug)]
pub struct Asked(Arc<Flows>);

/// The body of an answer that is under way.
#[derive(Debug)]
pub struct Flowing {
    body: ResponseBody,
    mark: Mark,
}

/// A part of such a body.
#[derive(Debug)]
pub struct Part {
    bytes: Bytes,
    mark: Mark,
    taken: bool,
}

/// Which answer it is.
#[derive(Debug, Clone)]
struct Mark {
    flows: Arc<Flows>,
    id: u64,
}

impl Flows {
    /// A request has come.
    #[must_use]
    pub fn ask(self: &Arc<Self>) -> Asked {
        self.lock().asked += 1;
        Asked(self.clone())
    }

    /// Whether no answer is under way.
    #[must_use]
    pub fn are_idle(&self) -> bool {
        let all = self.lock();
        all.asked == 0 && all.flows.is_empty()
    }

    /// Resolves when an answer has stood still for `wait` because the client takes nothing of it.
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

    fn lock(&self) -> MutexGuard<'_, Numbered> {
        // Each change leaves it whole, so a panic elsewhere does too.
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Asked {
    /// The answer is there; `body` is on its way from now on.
    #[must_use]
    pub fn answer(self, body: ResponseBody) -> Flowing {
        let flow = Flow {
            since: Instant::now(),
            parts: 0,
            ready: true,
            over: false,
        };
        let mut all = self.0.lock();
        let id = all.next;
        all.next += 1;
        all.flows.insert(id, flow);
        drop(all);
        self.0.begun.notify_one();
        let flows = self.0.clone();
        Flowing {
            body,
            mark: Mark { flows, id },
        }
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.0.lock().asked -= 1;
    }
}

impl Flow {
    /// Since when the client has been offered something.
    fn offered(&self) -> Option<Instant> {
        (self.parts > 0 || self.ready && !self.over).then_some(self.since)
    }
}

impl Mark {
    /// Note something of the answer, and forget it once all of it was taken.
    fn note(&self, change: impl FnOnce(&mut Flow)) {
        let mut all = self.flows.lock();
        let Some(flow) = all.flows.get_mut(&self.id) else {
            return;
        };
        change(flow);
        if flow.over && flow.parts == 0 {
            all.flows.remove(&self.id);
        }
    }
}

impl Body for Flowing {
    type Data = Part;
    type Error = StreamCut;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Part>, StreamCut>>> {
        let Self { body, mark } = self.get_mut();
        let polled = Pin::new(body).poll_frame(cx);
        let (ready, part) = match &polled {
            Poll::Pending => (false, false),
            Poll::Ready(next) => (true, matches!(next, Some(Ok(frame)) if frame.is_data())),
        };
        mark.note(|flow| {
            if ready {
                flow.since = Instant::now();
            }
            flow.ready = ready;
            flow.parts += usize::from(part);
        });
        polled.map_ok(|frame| {
            frame.map_data(|bytes| Part {
                bytes,
                mark: mark.clone(),
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
        self.mark.note(|flow| flow.over = true);
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
        self.mark.note(|flow| {
            flow.since = Instant::now();
            flow.parts -= usize::from(all);
        });
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if !self.taken {
            self.mark.note(|flow| flow.parts -= 1);
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
        let asked = flows.ask();
        assert!(!flows.are_idle());
        // A handler that takes its time is not the client's fault.
        assert!(timeout(WAIT * 9, flows.stalled(WAIT)).await.is_err());
        let mut body = asked.answer(ResponseBody::full("abcd"));
        timeout(WAIT * 2, flows.stalled(WAIT)).await.unwrap();
        let mut part = next(&mut body).await.unwrap();
        assert!(next(&mut body).await.is_none());
        drop(body);
        for _ in 0..3 {
            // Each byte gives it its time afresh.
            assert!(timeout(WAIT / 2, flows.stalled(WAIT)).await.is_err());
            part.advance(1);
        }
        timeout(WAIT * 2, flows.stalled(WAIT)).await.unwrap();
        part.advance(1);
        assert!(flows.are_idle());
        drop(part);
        assert!(timeout(WAIT * 9, flows.stalled(WAIT)).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_source_that_has_nothing_is_waited_for() {
        let (parts, receiver) = tokio::sync::mpsc::channel(1);
        let flows = Arc::new(Flows::default());
        let stream = runtime::BodyStream::new(None, receiver);
        let mut body = flows.ask().answer(ResponseBody::Stream(stream));
        assert!(timeout(WAIT / 9, next(&mut body)).await.is_err());
        assert!(timeout(WAIT * 9, flows.stalled(WAIT)).await.is_err());
        parts.send(Ok(Bytes::from_static(b"x"))).await.unwrap();
        let part = next(&mut body).await.unwrap();
        timeout(WAIT * 2, flows.stalled(WAIT)).await.unwrap();
        drop((part, body));
        assert!(flows.are_idle());
    }
}
